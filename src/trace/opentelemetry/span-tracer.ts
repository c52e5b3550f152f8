import {
  type Attributes,
  context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  SpanKind,
  type Tracer as SpanSource,
  type TextMapPropagator,
  trace,
} from "@opentelemetry/api";
import type { EventKey } from "../../domain/index.ts";
import type { ArrivedRequest, Concluded, DeliveryPhase, RequestPhase, Tracer } from "../tracer.ts";
import { createKnownSpans, type KnownSpans } from "./known-spans.ts";
import { SpanPhase, type Telling } from "./span-phase.ts";

/** Any other could be made up, one for each request, and names of spans must stay few. */
const METHODS = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]);
/** A failure waits for its retry for a minute and longer, a notification for about a second. */
const MOST_FAILED = 10_000;
const MOST_HANDLED = 5_000;

interface Known {
  readonly failed: KnownSpans;
  readonly handled: KnownSpans;
}

/**
 * @param propagator of `traceparent`
 * @param honoursParent whether the parent of a request is read from its headers
 */
export function createSpanTracer(
  spans: SpanSource,
  propagator: TextMapPropagator,
  honoursParent: boolean,
  telling: Telling,
): Tracer {
  const known: Known = {
    failed: createKnownSpans(MOST_FAILED),
    handled: createKnownSpans(MOST_HANDLED),
  };
  const parentOf = ({ headers }: ArrivedRequest) =>
    honoursParent ? propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter) : ROOT_CONTEXT;
  return {
    begin: (name) => new SpanPhase(spans.startSpan(name), telling),
    request(arrived) {
      const isKnown = METHODS.has(arrived.method);
      const name = `${isKnown ? arrived.method : "HTTP"} ${arrived.route}`;
      const attributes = attributesOf(arrived, isKnown);
      const span = spans.startSpan(name, { kind: SpanKind.SERVER, attributes }, parentOf(arrived));
      return requestPhase(new SpanPhase(span, telling), known);
    },
    run(kind, key, eventType) {
      const attributes = { ...keyAttributes(key), "oncehook.event_type": eventType };
      const links = known.failed.linksTo(key);
      const span = spans.startSpan(
        `${kind} ${eventType}`,
        { root: true, links, attributes },
        context.active(),
      );
      return new SpanPhase(span, telling);
    },
    delivery(channel, topic, key) {
      const attributes = { ...keyAttributes(key), "oncehook.topic": topic };
      const options = { kind: SpanKind.CLIENT, links: known.handled.linksTo(key), attributes };
      const span = spans.startSpan(`deliver ${channel}`, options, ROOT_CONTEXT);
      const headers: Record<string, string> = {};
      propagator.inject(trace.setSpan(ROOT_CONTEXT, span), headers, defaultTextMapSetter);
      return new SpanDelivery(span, telling, headers);
    },
  };
}

class SpanDelivery extends SpanPhase implements DeliveryPhase {
  readonly headers: Readonly<Record<string, string>>;

  constructor(span: SpanPhase["span"], telling: Telling, headers: Readonly<Record<string, string>>) {
    super(span, telling);
    this.headers = headers;
  }
}

function requestPhase(phase: SpanPhase, known: Known): RequestPhase {
  const spanContext = phase.span.spanContext();
  return {
    ids: { traceId: spanContext.traceId, spanId: spanContext.spanId },
    within: (run) => phase.within(run),
    answered(concluded) {
      const { outcome, source, eventId } = concluded;
      phase.span.setAttributes(answerAttributes(concluded));
      if (source !== undefined && eventId !== undefined) {
        const key = { source, eventId };
        if (outcome.ending === "failed") known.failed.remember(key, spanContext);
        else known.failed.forget(key);
        if (outcome.ending === "success") known.handled.remember(key, spanContext);
      }
      phase.end(outcome);
    },
  };
}

/** As OpenTelemetry's semantic conventions for HTTP servers name them. */
function attributesOf(arrived: ArrivedRequest, isKnown: boolean): Attributes {
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

function answerAttributes({ status, source, eventId, eventType }: Concluded): Attributes {
  return {
    "http.response.status_code": status,
    ...(source === undefined ? {} : { "oncehook.source": source }),
    ...(eventId === undefined ? {} : { "oncehook.event_id": eventId }),
    ...(eventType === undefined ? {} : { "oncehook.event_type": eventType }),
  };
}

function keyAttributes({ source, eventId }: EventKey): Attributes {
  return { "oncehook.source": source, "oncehook.event_id": eventId };
}
