import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { withHttpServer } from "./http-server.ts";
import { until } from "./until.ts";

/** A span as OTLP carries it in JSON, its attributes by name. */
export interface CollectedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly attributes: Record<string, unknown>;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly events: readonly { readonly name: string; readonly attributes: Record<string, unknown> }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

interface Posted {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** A collector that takes OTLP over HTTP. */
export interface Collector {
  readonly origin: string;
  /** While false it takes what comes and answers nobody. */
  answers: boolean;
  readonly posted: Posted[];
  /** Answers those who wait. */
  answerAll(): void;
  /** Those that came as JSON. */
  spans(): CollectedSpan[];
  /** Resolves with the trace that has a root of this name, once that root and the spans of these names have come. */
  trace(root: string, wanted?: WantedTrace): Promise<Trace>;
}

export interface WantedTrace {
  /** The newest where it is not given. */
  readonly traceId?: string;
  readonly spans?: readonly string[];
}

export interface Trace {
  readonly root: CollectedSpan;
  readonly all: readonly CollectedSpan[];
  span(name: string): CollectedSpan;
  /** The names of its spans, each below its parent: `["root", ["child"]]`. */
  readonly tree: unknown;
}

/** Lends one on a free port. */
export function withCollector<T>(use: (collector: Collector) => Promise<T>): Promise<T> {
  const posted: Posted[] = [];
  const waiting: (() => void)[] = [];
  let collector: Collector | undefined;
  return withHttpServer(
    async (request, response) => {
      const sent = await buffer(request).catch(() => Buffer.alloc(0));
      const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
      posted.push({ path: request.url ?? "", headers: request.headers, body });
      const answer = () => response.writeHead(200, { "content-type": "application/json" }).end("{}");
      if (collector?.answers) answer();
      else waiting.push(answer);
    },
    (origin) => {
      collector = collectorOf(origin, posted, waiting);
      return use(collector);
    },
  );
}

function collectorOf(origin: string, posted: Posted[], waiting: (() => void)[]): Collector {
  const spans = () => posted.filter(isJson).flatMap(({ body }) => spansIn(body));
  return {
    origin,
    answers: true,
    posted,
    spans,
    answerAll() {
      for (const answer of waiting.splice(0)) answer();
    },
    async trace(name, wanted = {}) {
      const found = () => {
        const root = spans().findLast(
          (span) => span.name === name && span.traceId === (wanted.traceId ?? span.traceId),
        );
        if (root === undefined) return undefined;
        const all = spans().filter(({ traceId }) => traceId === root.traceId);
        const isWhole = (wanted.spans ?? []).every((one) => all.some((span) => span.name === one));
        return isWhole ? traceOf(root, all) : undefined;
      };
      await until(() => found() !== undefined);
      return found()!;
    },
  };
}

function traceOf(root: CollectedSpan, all: readonly CollectedSpan[]): Trace {
  const below = ({ spanId, name }: CollectedSpan): unknown => {
    const children = all.filter(({ parentSpanId }) => parentSpanId === spanId);
    return children.length === 0 ? name : [name, ...children.map(below)];
  };
  return {
    root,
    all,
    tree: below(root),
    span(name) {
      const found = all.find((span) => span.name === name);
      if (found === undefined) throw new Error(`no span ${name} among ${all.map((span) => span.name)}`);
      return found;
    },
  };
}

function isJson({ headers }: Posted): boolean {
  return headers["content-type"] === "application/json";
}

interface Keyed {
  readonly key: string;
  readonly value: Record<string, unknown>;
}
type Sent = Omit<CollectedSpan, "attributes" | "events"> & {
  readonly attributes?: readonly Keyed[];
  readonly events?: readonly { readonly name: string; readonly attributes?: readonly Keyed[] }[];
};

function spansIn(body: Buffer): CollectedSpan[] {
  const { resourceSpans } = JSON.parse(body.toString()) as {
    resourceSpans: { scopeSpans: { spans: Sent[] }[] }[];
  };
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .map((span) => ({
      ...span,
      attributes: byName(span.attributes),
      events: (span.events ?? []).map(({ name, attributes }) => ({ name, attributes: byName(attributes) })),
      links: span.links ?? [],
    }));
}

function byName(attributes: readonly Keyed[] = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
