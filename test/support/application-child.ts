/**
 * An application with tracing, metrics and a watch on bodies of its own, and two receivers in its process. Arguments: the
 * databases' addresses. It prints, as JSON, what it saw of itself, and ends without an exit.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { context, diag, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { register } from "prom-client";
import { z } from "zod";
import { createReceiver, defineHandler, toNodeHandler } from "../../src/index.ts";
import { postCallback } from "../../src/testing/post-callback.ts";
import { CHILD_ENVIRONMENT, SECRET } from "./secrets.ts";

const [, , firstUrl = "", secondUrl = ""] = process.argv;
const exported = new InMemorySpanExporter();
const said: string[] = [];
trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: exported })] }),
);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
propagation.setGlobalPropagator(new W3CTraceContextPropagator());
const note = (text: string): void => void said.push(text);
diag.setLogger({ error: note, warn: note, info: note, debug: () => {}, verbose: () => {} });
register.setDefaultLabels({ application: "shop" });

const shop = trace.getTracer("shop");
const charging = defineHandler({
  type: "charging",
  data: z.object({}),
  handle({ event }) {
    shop.startActiveSpan(`charge ${event.event_id}`, (span) => span.end());
    return {};
  },
});

/** Awaits neither its failed statement nor what it does beside it. */
const forgetful = defineHandler({
  type: "forgetful",
  data: z.object({}),
  async handle({ tx }) {
    void tx.query.insertInto("nowhere").values({ id: 1 }).execute();
    await tx.execute("SELECT 1").catch(() => {});
    return {};
  },
});

const failing = defineHandler({
  type: "failing",
  data: z.object({}),
  async handle({ tx }) {
    await tx.query.insertInto("nowhere").values({ id: 1 }).execute();
    return {};
  },
});

/** By identity: whatever replaces one of them is another object. */
const numbers = new Map<unknown, number>();
function identity(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (!numbers.has(value)) numbers.set(value, numbers.size);
  return numbers.get(value);
}

/** The state of the process that libraries share. */
function snapshot() {
  const shared = (globalThis as Record<symbol, unknown>)[Symbol.for("opentelemetry.js.api.1")];
  return {
    stackTraceLimit: Error.stackTraceLimit,
    listeners: Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)])),
    openTelemetry: Object.entries(shared ?? {}).map(([name, value]) => [name, identity(value)]),
    metrics: register.getMetricsAsArray().map(({ name }) => name),
    globals: Reflect.ownKeys(globalThis).map(String),
    environment: { ...process.env },
    folder: process.cwd(),
    mask: process.umask(),
    prepareStackTrace: identity(Error.prepareStackTrace),
    hasCaptureCallback: process.hasUncaughtExceptionCaptureCallback(),
  };
}

const { SIGNING_SECRET, ENCRYPTION_KEY, APP_ENV } = CHILD_ENVIRONMENT;

async function openReceiver(database: string) {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const write = (fields: object, msg: string) => void lines.push({ ...fields, msg });
  const receiver = createReceiver(
    { handlers: [charging, forgetful, failing] },
    {
      database,
      variables: { SIGNING_SECRET, ENCRYPTION_KEY, APP_ENV, LOG_LEVEL: "info" },
      logger: { debug: write, info: write, warn: write, error: write },
      admin: { authorize: () => "viewer" },
    },
  );
  const handle = toNodeHandler(receiver);
  /** As a monitor of an application keeps them. */
  const watched: Uint8Array[] = [];
  const server = createServer((message, response) => {
    message.on("data", (piece: Uint8Array) => watched.push(piece));
    // As the instrumentation of HTTP does.
    if (message.headers["x-traced"] === undefined) return handle(message, response);
    shop.startActiveSpan("request", (span) => {
      response.once("close", () => span.end());
      handle(message, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    lines,
    async send(eventId: string, type = "charging", data = {}, headers = {}): Promise<number> {
      const event = { event_id: eventId, event_type: type, timestamp: Math.floor(Date.now() / 1000), data };
      const sent = { type, body: Buffer.from(JSON.stringify(event)), headers };
      return (await postCallback(`${origin}/api/platform/callback`, SECRET, sent)).status;
    },
    watchedBytes: () => watched.reduce((sum, { length }) => sum + length, 0),
    metrics: async () => (await receiver.admin.fetch(new Request("http://localhost/metrics"))).text(),
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await receiver.close();
    },
  };
}

/** Of a stranger: an application decides whom it believes. */
const FOREIGN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const LONG = { note: "x".repeat(300_000) };

shop.startActiveSpan("before", (span) => span.end());
const before = snapshot();
const first = await openReceiver(firstUrl);
const second = await openReceiver(secondUrl);
const statuses = await Promise.all([first.send("evt_1"), second.send("evt_2")]);
const forgotten = await second.send("evt_forgotten", "forgetful");
await second.send("evt_failing", "failing");
const [unawaited, failed] = ["evt_forgotten", "evt_failing"].map(
  (id) => second.lines.find(({ event_id }) => event_id === id)?.error,
);
// A failed statement is watched to the end of its turn.
await nextTurn();
const during = snapshot();
const metrics = await first.metrics();
const beforeLong = second.watchedBytes();
await second.send("evt_long", "charging", LONG, { "x-traced": "1", traceparent: FOREIGN });
const watched = second.watchedBytes() - beforeLong;
shop.startActiveSpan("during", (span) => span.end());
await first.close();
const isSecondWell = (await second.send("evt_3")) === 200;
await second.close();
shop.startActiveSpan("after", (span) => span.end());
const spans = exported.getFinishedSpans().map((span) => ({
  name: span.name,
  kind: span.kind,
  scope: span.instrumentationScope.name,
  id: span.spanContext().spanId,
  parent: span.parentSpanContext?.spanId ?? null,
}));
const seen = {
  before,
  during,
  after: snapshot(),
  statuses,
  forgotten,
  unawaited,
  failed,
  isSecondWell,
  metrics,
  watched,
  spans,
  said,
};
process.stdout.write(JSON.stringify(seen));
