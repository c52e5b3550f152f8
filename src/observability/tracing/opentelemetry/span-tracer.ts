import {
  type Attributes,
  type ContextManager,
  defaultTextMapGetter,
  defaultTextMapSetter,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type Tracer as SpanSource,
  SpanStatusCode,
  type TextMapPropagator,
  trace,
} from "@opentelemetry/api";
import { type EventKey, keyText, type Outcome, outcomeName, readableError } from "../../../domain/index.ts";
import type { RequestInfo, RequestSpan, TraceIds, Tracer, TraceSpan } from "../index.ts";

export interface ErrorDescription {
  /** An error with its causes, secrets masked. */
  readonly describe: (error: unknown) => string;
  /** Whether an error that a handler threw rejects the event, and is no fault of the handler. */
  readonly isRejection: (error: unknown) => boolean;
}

/** The API's own, or those that an application has registered. */
export type ActiveContexts = Pick<ContextManager, "active" | "with">;

export interface TracingParts {
  readonly spans: SpanSource;
  readonly contexts: ActiveContexts;
  /** Of `traceparent`. */
  readonly propagator: TextMapPropagator;
  /** Of a request's span: the one that is active in the application, or that the headers name. */
  readonly requestParent: "active" | "headers" | "none";
}

/** One OpenTelemetry span. The innermost span records an error in full; those around it record its name. */
class OtelSpan implements TraceSpan {
  readonly span: Span;
  readonly #contexts: ActiveContexts;
  readonly #errors: ErrorDescription;

  constructor(span: Span, contexts: ActiveContexts, errors: ErrorDescription) {
    this.span = span;
    this.#contexts = contexts;
    this.#errors = errors;
  }

  within<T>(run: () => T): T {
    return this.#contexts.with(trace.setSpan(this.#contexts.active(), this.span), run);
  }

  end(came?: object): void {
    const outcome = outcomeIn(came);
    if (outcome !== undefined) this.span.setAttribute("oncehook.outcome", outcomeName(outcome));
    if (outcome?.kind === "failed") this.#error(outcome.cause, outcome.code);
    this.span.end();
  }

  fail(error: unknown): void {
    if (this.#errors.isRejection(error)) this.span.setAttribute("oncehook.outcome", "rejected");
    else this.#error(error, nameOf(error));
    this.span.end();
  }

  #error(error: unknown, type: string): void {
    if (!this.span.isRecording()) return;
    this.span.setAttribute("error.type", type);
    this.span.setStatus({ code: SpanStatusCode.ERROR });
    if (!isFirstRecord(error)) return;
    const text = this.#errors.describe(error);
    const [message = ""] = text.split("\n", 1);
    this.span.setStatus({ code: SpanStatusCode.ERROR, message });
    this.span.addEvent("exception", {
      "exception.type": nameOf(error),
      "exception.message": message,
      "exception.stacktrace": text,
    });
  }
}

const recorded = new WeakSet<WeakKey>();

/** Whether no span has recorded it yet. Every span records a value that is no object. */
function isFirstRecord(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return true;
  if (recorded.has(error)) return false;
  recorded.add(error);
  return true;
}

function nameOf(error: unknown): string {
  const readable = readableError(error);
  return readable instanceof Error && typeof readable.name === "string" ? readable.name : typeof error;
}

function outcomeIn(came: object | undefined): Outcome | undefined {
  if (came === undefined) return undefined;
  if ("kind" in came) return came as Outcome;
  return "outcome" in came ? (came.outcome as Outcome) : undefined;
}

/**
 * The span of each event's callback, so that later work can point to it: in memory, of the latest ones.
 * @param most how many are known; each takes about 300 bytes
 */
function createRecentSpans(most: number) {
  const spans = new Map<string, SpanContext>();
  return {
    /** The first one of an event stays. */
    remember(key: EventKey, span: SpanContext): void {
      const name = keyText(key);
      if (spans.has(name)) return;
      spans.set(name, span);
      const [oldest] = spans.size > most ? spans.keys() : [];
      if (oldest !== undefined) spans.delete(oldest);
    },
    linksTo(key: EventKey): Link[] {
      const span = spans.get(keyText(key));
      return span === undefined ? [] : [{ context: span }];
    },
    forget: (key: EventKey) => void spans.delete(keyText(key)),
  };
}

/** Any other could be made up, one for each request, and names of spans must stay few. */
const METHODS = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]);
/** A failure waits for its retry for a minute and longer, a notification for about a second. */
const MAX_FAILED = 10_000;
const MAX_HANDLED = 5_000;

export function createSpanTracer(parts: TracingParts, errors: ErrorDescription): Tracer {
  const { spans, contexts, propagator, requestParent } = parts;
  const wrapped = (span: Span) => new OtelSpan(span, contexts, errors);
  const known = { failed: createRecentSpans(MAX_FAILED), handled: createRecentSpans(MAX_HANDLED) };
  const parentOf = ({ headers }: RequestInfo) => {
    if (requestParent === "active") return contexts.active();
    return requestParent === "headers" ? propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter) : ROOT_CONTEXT;
  };
  return {
    startSpan: (name) => wrapped(spans.startSpan(name, {}, contexts.active())),
    startRequest(arrived) {
      const isKnown = METHODS.has(arrived.method);
      const name = `${isKnown ? arrived.method : "HTTP"} ${arrived.route}`;
      const attributes = attributesOf(arrived, isKnown);
      const parent = parentOf(arrived);
      // Around it is the span of the application's own server, or of its framework.
      const isInside = requestParent === "active" && trace.getSpan(parent) !== undefined;
      const kind = isInside ? SpanKind.INTERNAL : SpanKind.SERVER;
      const span = spans.startSpan(name, { kind, attributes }, parent);
      return requestSpan(wrapped(span), known);
    },
    startAttempt(kind, key, eventType) {
      const attributes = { ...keyAttributes(key), "oncehook.event_type": eventType };
      const links = known.failed.linksTo(key);
      const options = { root: true, links, attributes };
      return wrapped(spans.startSpan(`${kind} ${eventType}`, options, contexts.active()));
    },
    startDelivery(channel, topic, key) {
      const attributes = { ...keyAttributes(key), "oncehook.topic": topic };
      const options = { kind: SpanKind.CLIENT, links: known.handled.linksTo(key), attributes };
      const span = spans.startSpan(`deliver ${channel}`, options, ROOT_CONTEXT);
      const headers: Record<string, string> = {};
      propagator.inject(trace.setSpan(ROOT_CONTEXT, span), headers, defaultTextMapSetter);
      return Object.assign(wrapped(span), { headers });
    },
  };
}

function requestSpan(
  span: OtelSpan,
  known: Readonly<Record<"failed" | "handled", ReturnType<typeof createRecentSpans>>>,
): RequestSpan {
  const spanContext = span.span.spanContext();
  return {
    ids: idsOf(spanContext),
    within: (run) => span.within(run),
    end(concluded) {
      const { outcome, source, eventId } = concluded;
      span.span.setAttributes({
        "http.response.status_code": concluded.status,
        "oncehook.source": source,
        "oncehook.event_id": eventId,
        "oncehook.event_type": concluded.eventType,
      });
      if (source !== undefined && eventId !== undefined) {
        const key = { source, eventId };
        if (outcome.kind === "failed") known.failed.remember(key, spanContext);
        else known.failed.forget(key);
        if (outcome.kind === "success") known.handled.remember(key, spanContext);
      }
      span.end(outcome);
    },
  };
}

export function idsOf(span: SpanContext): TraceIds;
export function idsOf(span: SpanContext | undefined): TraceIds | undefined;
export function idsOf(span: SpanContext | undefined): TraceIds | undefined {
  return span && { traceId: span.traceId, spanId: span.spanId };
}

/** As OpenTelemetry's semantic conventions for HTTP servers name them. */
function attributesOf(arrived: RequestInfo, isKnown: boolean): Attributes {
  return {
    "http.request.method": isKnown ? arrived.method : "_OTHER",
    ...(isKnown ? {} : { "http.request.method_original": arrived.method }),
    "http.route": arrived.route,
    "url.path": arrived.route,
    "url.scheme": arrived.protocol,
    "client.address": arrived.address,
    "network.protocol.version": arrived.httpVersion,
  };
}

function keyAttributes({ source, eventId }: EventKey): Attributes {
  return { "oncehook.source": source, "oncehook.event_id": eventId };
}
