/**
 * An application with tracing and metrics of its own, and two receivers in its process. Arguments: the databases' addresses and
 * the address of the first receiver's collector. It prints, as JSON, what it saw of itself, and ends without an exit.
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
import { assemble } from "../../src/app/assemble.ts";
import { receiveParts } from "../../src/app/receive-parts.ts";
import { UndoSteps } from "../../src/app/undo-steps.ts";
import { loadConfig } from "../../src/config/index.ts";
import { defineHandler } from "../../src/index.ts";
import { RequestSequence, UnverifiedBodies } from "../../src/receive/index.ts";
import { capturedLog } from "../../src/testing/captured-log.ts";
import { postCallback } from "../../src/testing/post-callback.ts";
import { nodeExchange } from "./node-exchange.ts";
import { CHILD_ENVIRONMENT, SECRET } from "./secrets.ts";

const [, , firstUrl = "", secondUrl = "", collector = ""] = process.argv;
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
    const active = trace.getActiveSpan();
    if (active !== undefined) throw new Error("the span of another tracer is active");
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

async function openReceiver(url: string, env: Record<string, string> = {}) {
  const config = loadConfig({ ...CHILD_ENVIRONMENT, ...env, DATABASE_URL: url });
  const { logger, lines } = capturedLog(config);
  const undo = new UndoSteps(logger);
  const assembled = await assemble(config, { handlers: [charging, forgetful, failing], logger }, undo);
  assembled.background.start({});
  undo.add("background work", () => assembled.background.stop());
  const { options, dependencies } = receiveParts(assembled, { hasTls: false, requireHttps: false });
  const bodies = new UnverifiedBodies(options.maxUnverifiedBytes, options.maxBodyBytes);
  const sequence = new RequestSequence(options, dependencies, bodies);
  const server = createServer((message, response) => sequence.start(nodeExchange(message, response)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    lines,
    async send(eventId: string, type = "charging"): Promise<number> {
      const event = { event_id: eventId, event_type: type, timestamp: Math.floor(Date.now() / 1000), data: {} };
      const sent = { type, body: Buffer.from(JSON.stringify(event)), headers: {} };
      return (await postCallback(`${origin}/api/platform/callback`, SECRET, sent)).status;
    },
    metrics: async () => (await assembled.services.metrics.render()).text,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await undo.run();
    },
  };
}

shop.startActiveSpan("before", (span) => span.end());
const before = snapshot();
const first = await openReceiver(firstUrl, {
  OTEL_EXPORTER_OTLP_ENDPOINT: collector,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
});
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
shop.startActiveSpan("during", (span) => span.end());
await first.close();
const isSecondWell = (await second.send("evt_3")) === 200;
await second.close();
shop.startActiveSpan("after", (span) => span.end());
const spans = exported.getFinishedSpans().map(({ name }) => name);
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
  spans,
  said,
};
process.stdout.write(JSON.stringify(seen));
