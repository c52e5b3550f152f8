import type { EventKey, Outcome } from "../domain/index.ts";

/**
 * Makes visible, as a trace, what became of a callback and how long each phase took. Absent where tracing is off, so that
 * who uses it asks `tracer?.` and pays no more. None of it throws, and none of it waits.
 */
export interface Tracer {
  /** The phase of a whole request: a child of what its `traceparent` names, where that is honoured. */
  request(arrived: ArrivedRequest): RequestPhase;
  /** The phase of a stored failure's run: a trace of its own, with a link to the callback that failed, if it is known. */
  run(kind: RunKind, key: EventKey, eventType: string): Phase;
  /** The phase of an attempt to deliver a notification: a trace of its own, with a link to the event's callback likewise. */
  delivery(channel: string, topic: string, key: EventKey): DeliveryPhase;
  /** A phase within the active one. */
  begin(name: string): Phase;
}

export type RunKind = "retry" | "replay" | "rehearse";

export interface Phase {
  /** Runs it with this phase as the active one: what begins meanwhile is its child. */
  within<T>(run: () => T): T;
  /** @param came what the phase came to: an outcome, or what has one under `outcome`, is told; anything else is a success */
  end(came?: object): void;
  /** Ends a phase that threw. */
  fail(error: unknown): void;
}

export interface DeliveryPhase extends Phase {
  /** `traceparent`, and `tracestate` where there is one, for a receiver over HTTP. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface RequestPhase {
  readonly ids: TraceIds;
  within<T>(run: () => T): T;
  /** Ends it. */
  answered(concluded: Concluded): void;
}

/** What is known of a request when it arrives. */
export interface ArrivedRequest {
  readonly method: string;
  /** The path that is served, as it was registered; the query may hold a code, and is not asked for. */
  readonly route: string;
  readonly protocol: "http" | "https";
  readonly httpVersion: string;
  readonly address: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** How it was answered. */
export interface Concluded {
  readonly status: number;
  readonly outcome: Outcome;
  readonly source: string | undefined;
  readonly eventId: string | undefined;
  readonly eventType: string | undefined;
}

/** In lowercase hex, 32 and 16 digits (W3C Trace Context). */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}
