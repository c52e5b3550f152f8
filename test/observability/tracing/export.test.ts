import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../../src/index.ts";
import { startFromSource } from "../../support/child.ts";
import { withDatabase } from "../../support/databases.ts";
import { freePort } from "../../support/free-port.ts";
import { withCollector } from "../../support/otlp-collector.ts";
import { startServer } from "../../support/process.ts";
import { event, payment, withReceiver } from "../../support/receiver.ts";
import { withTraced } from "../../support/traced-receiver.ts";
import { until } from "../../support/until.ts";

const ROOT = "POST /api/platform/callback";
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";

/** Says on standard error who asks for which package of OpenTelemetry. */
const TELLING = `import { registerHooks } from "node:module";
  import { writeSync } from "node:fs";
  registerHooks({ resolve(name, context, next) {
    if (name.startsWith("@opentelemetry/")) writeSync(2, "loads " + name + " for " + context.parentURL + "\\n");
    return next(name, context);
  } });`;
const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(TELLING)}`;

/** The metrics library has a use of its own for the API, with traces or without. */
const OF_THE_METRICS = `loads @opentelemetry/api for file://${join(process.cwd(), "node_modules/prom-client/")}`;

/** What a process loads of OpenTelemetry that serves one callback and is stopped. */
function loadedBy(env: Record<string, string>): Promise<string[]> {
  return withDatabase("sqlite", async (target) => {
    const cwd = await mkdtemp(join(tmpdir(), "oncehook-traces-"));
    const server = await startServer(target, { NODE_OPTIONS, ...env }, cwd, startFromSource);
    try {
      expect((await server.send(payment())).status).toBe(200);
    } finally {
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
      await rm(cwd, { recursive: true });
    }
    return server
      .stderr()
      .split("\n")
      .filter((line) => line.startsWith("loads ") && !line.includes(OF_THE_METRICS));
  });
}

describe("OpenTelemetry", () => {
  it.each([
    ["nothing asks for traces", {}],
    ["OTEL_SDK_DISABLED is true", { OTEL_TRACES_EXPORTER: "otlp", OTEL_SDK_DISABLED: "true" }],
    ["OTEL_TRACES_EXPORTER is none", { OTEL_TRACES_EXPORTER: "none", OTEL_EXPORTER_OTLP_ENDPOINT: "http://[::1]" }],
  ])("no module of OpenTelemetry is loaded where %s", { tags: "full" }, async (_case, env) => {
    expect(await loadedBy(env)).toEqual([]);
  });

  it(
    "OpenTelemetry is loaded where an endpoint is set, and sends the remaining spans when the process stops",
    { tags: "full" },
    () =>
      withCollector(async (collector) => {
        const loaded = await loadedBy({
          OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.origin}/taken/as/it/is`,
          OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20key",
          OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
          OTEL_SERVICE_NAME: "payments",
          OTEL_RESOURCE_ATTRIBUTES: "team=money",
        });
        expect(loaded.join("\n")).toContain("loads @opentelemetry/sdk-trace for file:");
        const [post] = collector.posted;
        expect(post).toMatchObject({
          path: "/taken/as/it/is",
          headers: {
            "content-type": "application/x-protobuf",
            "api-key": "a key",
            "content-encoding": "gzip",
          },
        });
        // In protobuf texts stand as they are.
        for (const text of [ROOT, "handler payment_notify", "payments", "money"]) {
          expect(post?.body.includes(text)).toBe(true);
        }
      }),
  );
});

describe("the console exporter", () => {
  it("the exporter writes a line of the log for each span", async () => {
    await withReceiver(
      "sqlite",
      async (receiver) => {
        await receiver.send(payment());
        const spans = () => receiver.lines.filter(({ msg }) => msg === "span").map(({ span }) => span);
        await until(() => spans().length === 6);
        expect(spans().at(-1)).toMatchObject({ name: ROOT, kind: "server", parent_span_id: null });
      },
      { env: { OTEL_TRACES_EXPORTER: "console", OTEL_BSP_SCHEDULE_DELAY: "20" } },
    );
  });
});

describe("a request's traceparent", () => {
  it("a request's traceparent decides that nothing is recorded, where it says so", () =>
    withTraced("sqlite", async (receiver, collector) => {
      await receiver.send(payment(), { headers: { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-00` } });
      await receiver.send(payment());
      await collector.trace(ROOT);
      expect(collector.spans().filter(({ traceId }) => traceId === TRACE_ID)).toEqual([]);
      const [first] = receiver.lines.filter(({ msg }) => msg === "callback");
      expect(first).toMatchObject({ trace_id: TRACE_ID });
    }));

  it.each([
    ["is malformed", `00-${TRACE_ID}-b7ad6b7169203331-01-more`, {}],
    ["is all zeros", `00-${"0".repeat(32)}-b7ad6b7169203331-01`, {}],
    ["is not honoured", `00-${TRACE_ID}-b7ad6b7169203331-01`, { OTEL_PROPAGATORS: "none" }],
  ])("a request starts a trace of its own where its traceparent %s", (_case, traceparent, env) =>
    withTraced(
      "sqlite",
      async (receiver, collector) => {
        expect((await receiver.send(payment(), { headers: { traceparent } })).status).toBe(200);
        const { root } = await collector.trace(ROOT);
        expect(root.parentSpanId ?? "").toBe("");
        expect(root.traceId).not.toBe(TRACE_ID);
      },
      { env },
    ),
  );

  it("a sampling ratio ignores the caller's flag and choice of trace id", () =>
    withTraced(
      "sqlite",
      async (receiver, collector) => {
        for (const id of [TRACE_ID, "1".padStart(32, "0")]) {
          const headers = { traceparent: `00-${id}-b7ad6b7169203331-01` };
          expect((await receiver.send(payment(), { headers })).status).toBe(200);
        }
        // It sends what is left.
        await receiver.stop();
        expect(collector.spans()).toEqual([]);
      },
      { env: { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.000001" } },
    ));

  it.each([
    ["the ratio picks it", "parentbased_traceidratio"],
    ["the caller is to decide", "parentbased_always_off"],
  ])("a request's traceparent is the parent of every recorded span where %s", (_case, sampler) =>
    withTraced(
      "sqlite",
      async (receiver, collector) => {
        await receiver.send(payment(), { headers: { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` } });
        const { root, tree } = await collector.trace(ROOT);
        expect(root).toMatchObject({ traceId: TRACE_ID, parentSpanId: "b7ad6b7169203331" });
        expect(tree).toEqual([ROOT, "verify", "identify", ["once", "handler payment_notify", "commit"]]);
      },
      { env: { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: "1" } },
    ),
  );

  it("a request's sampling decision is ignored where the sampler decides by itself", () =>
    withTraced(
      "sqlite",
      async (receiver, collector) => {
        await receiver.send(payment(), { headers: { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-00` } });
        expect((await collector.trace(ROOT)).root.traceId).toBe(TRACE_ID);
      },
      { env: { OTEL_TRACES_SAMPLER: "always_on" } },
    ));
});

const quick = defineHandler({ type: "quick", data: z.object({}), handle: () => ({}) });

describe("a collector", () => {
  it(
    "a collector that hangs delays neither callbacks nor a stop, and a bounded number of spans waits for it",
    { tags: "full" },
    () =>
      withTraced(
        "sqlite",
        async (receiver, collector) => {
          collector.answers = false;
          for (let round = 0; round < 10; round += 1) {
            const answers = await Promise.all(Array.from({ length: 20 }, () => receiver.send(event("quick", {}))));
            expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
          }
          await until(() => collector.posted.length > 0);
          // Twelve hundred spans were made: those of one batch are on their way, and a hundred wait.
          const before = collector.spans().length;
          expect(before).toBeLessThanOrEqual(50);
          collector.answers = true;
          collector.answerAll();
          await until(async () => {
            await receiver.send(event("quick", {}));
            return receiver.lines.some(({ detail }) => /Dropped \d{3,4} spans/.test(String(detail)));
          });
          collector.answers = false;
          await receiver.send(event("quick", {}));
          const begun = performance.now();
          await receiver.stop();
          expect(performance.now() - begun).toBeLessThan(8_000);
        },
        {
          handlers: [quick],
          env: { OTEL_BSP_MAX_QUEUE_SIZE: "100", OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "50" },
        },
      ),
  );

  it("a missing collector is logged once and fails no callback", async () => {
    const origin = `http://127.0.0.1:${await freePort()}`;
    await withTraced(
      "sqlite",
      async (receiver) => {
        const told = () => receiver.lines.filter(({ msg }) => msg === "traces could not be exported");
        await until(async () => {
          expect((await receiver.send(payment())).status).toBe(200);
          return told().length > 0;
        });
        await receiver.send(payment());
        await receiver.stop();
        expect(told()).toHaveLength(1);
        expect(told()[0]).toMatchObject({ level: 40, detail: expect.stringContaining("ECONNREFUSED") });
      },
      { env: { OTEL_EXPORTER_OTLP_ENDPOINT: origin, OTEL_EXPORTER_OTLP_TIMEOUT: "300" } },
    );
  });
});
