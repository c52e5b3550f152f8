import { describe, expect, it } from "vitest";
import { callOnce } from "../../src/domain/index.ts";
import { runChild } from "../support/child.ts";
import { type Dialect, withDatabase } from "../support/databases.ts";
import { withCollector } from "../support/otlp-collector.ts";

interface Seen {
  readonly before: Readonly<Record<string, unknown>>;
  readonly during: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
  readonly statuses: readonly number[];
  readonly forgotten: number;
  readonly unawaited: string;
  readonly failed: string;
  readonly isSecondWell: boolean;
  readonly metrics: string;
  readonly spans: readonly string[];
  readonly said: readonly string[];
}

/** Two receivers in an application; its process ends by itself. @returns what it saw, and the names of the receiver's spans */
function runApplication(dialect: Dialect): Promise<Seen & { readonly collected: ReadonlySet<string> }> {
  return withDatabase(dialect, (first) =>
    withDatabase(dialect, (second) =>
      withCollector(async (collector) => {
        const env = { ...process.env, NODE_OPTIONS: "", OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin };
        const addresses = [first.url, second.url, collector.origin];
        const child = await runChild("test/support/application-child.ts", addresses, env);
        expect({ code: child.code, stderr: child.stderr }).toEqual({ code: 0, stderr: "" });
        const collected = new Set(collector.spans().map(({ name }) => name));
        return { ...(JSON.parse(child.stdout) as Seen), collected };
      }),
    ),
  );
}

describe.each(["sqlite", "postgres"] as const)("two receivers in an application's process: %s", (dialect) => {
  const application = callOnce(() => runApplication(dialect));

  it("two receivers leave the process as it was, while they work and when they are closed", async () => {
    const { before, during, after, statuses, isSecondWell } = await application();
    expect(statuses).toEqual([200, 200]);
    expect(during).toEqual(before);
    expect(after).toEqual(before);
    expect(isSecondWell).toBe(true);
  });

  it("an application's tracing keeps its spans, also those of handlers, and a receiver's collector gets no other", async () => {
    const { spans, said, collected } = await application();
    expect(spans.toSorted()).toEqual(["after", "before", "charge evt_1", "charge evt_2", "charge evt_3", "during"]);
    expect(said).toEqual([]);
    expect(collected).toEqual(
      new Set(["POST /api/platform/callback", "verify", "identify", "once", "handler charging", "commit"]),
    );
  });

  it("a statement that fails unawaited fails its event, and does not end the application", async () => {
    const { forgotten, unawaited, isSecondWell } = await application();
    expect([forgotten, isSecondWell]).toEqual([500, true]);
    expect(unawaited).toContain("this failed and was not awaited: insert into");
  });

  it("the error of a failed statement has the handler's line under the application's own stackTraceLimit", async () => {
    const { failed, before } = await application();
    expect(before.stackTraceLimit).toBe(10);
    expect(failed).toMatch(/nowhere[\s\S]*application-child\.ts/);
  });

  it("the metrics of a receiver in an application have none of the process", async () => {
    const { metrics } = await application();
    expect(metrics).toContain("callback_requests_total");
    expect(metrics).not.toMatch(/^(?:nodejs|process)_/m);
  });
});
