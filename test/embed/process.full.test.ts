import { describe, expect, it } from "vitest";
import { callOnce } from "../../src/domain/index.ts";
import { runChild } from "../support/child.ts";
import { type Dialect, withDatabase } from "../support/databases.ts";

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
  /** Bytes of a long body that the application's own listener holds. */
  readonly watched: number;
  readonly spans: readonly Span[];
  readonly said: readonly string[];
}

interface Span {
  readonly name: string;
  /** Of OpenTelemetry: 0 internal, 1 server. */
  readonly kind: number;
  readonly scope: string;
  readonly id: string;
  readonly parent: string | null;
}

/** The names of a span and of those around it, from the inside out. */
function chainOf(spans: readonly Span[], name: string): string[] {
  const chain: Span[] = [];
  let span = spans.find((one) => one.name === name);
  while (span !== undefined) {
    chain.push(span);
    const { parent } = span;
    span = spans.find(({ id }) => id === parent);
  }
  return chain.map((one) => one.name);
}

/** Variables of the application's own, none of which is for a receiver. */
const OF_THE_APPLICATION = {
  DATABASE_URL: "mysql://app@db/shop",
  ENCRYPTION_KEY: "my-app-key",
  SMTP_URL: "mailhog:1025",
  LOG_LEVEL: "verbose",
  PORT: "none",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
};

/** Two receivers in an application; its process ends by itself. @returns what it saw */
function runApplication(dialect: Dialect): Promise<Seen> {
  return withDatabase(dialect, (first) =>
    withDatabase(dialect, async (second) => {
      const env = { ...process.env, NODE_OPTIONS: "", ...OF_THE_APPLICATION };
      const child = await runChild("test/support/application-child.ts", [first.url, second.url], env);
      expect({ code: child.code, stderr: child.stderr }).toEqual({ code: 0, stderr: "" });
      return JSON.parse(child.stdout) as Seen;
    }),
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

  it("an application's tracing keeps its spans, and its diagnostics get nothing of a receiver", async () => {
    const { spans, said } = await application();
    const shop = spans.filter(({ scope }) => scope === "shop").map(({ name }) => name);
    const charges = ["charge evt_1", "charge evt_2", "charge evt_3", "charge evt_long"];
    expect(shop.toSorted()).toEqual(["after", "before", ...charges, "during", "request"]);
    expect(said).toEqual([]);
  });

  it("the spans of a callback are in the application's traces, around those that a handler starts", async () => {
    const { spans } = await application();
    const callback = "POST /api/platform/callback";
    expect(chainOf(spans, "charge evt_1")).toEqual(["charge evt_1", "handler charging", "once", callback]);
    expect(chainOf(spans, "charge evt_long").slice(-2)).toEqual([callback, "request"]);
  });

  it("a callback's span is a server's where the application has none, and takes no parent from a header", async () => {
    const { spans } = await application();
    const callbacks = spans.filter(({ name }) => name.startsWith("POST "));
    const kinds = callbacks.map(({ kind, parent }) => ({ kind, hasParent: parent !== null }));
    expect(kinds.filter(({ kind }) => kind === 0)).toEqual([{ kind: 0, hasParent: true }]);
    expect(kinds.filter(({ kind }) => kind === 1)).toEqual(Array(5).fill({ kind: 1, hasParent: false }));
  });

  it("an application's listener keeps the bytes of a body in several pieces", async () => {
    expect((await application()).watched).toBeGreaterThan(300_000);
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
