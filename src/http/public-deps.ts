import type { Clock, Log } from "../domain/index.ts";
import type { Hearing } from "../hear/index.ts";
import type { RedirectDeps, StartDeps } from "../oauth/index.ts";
import type { CallbackLog, Mask, Metrics } from "../observe/index.ts";
import type { Receiver, Reception, Source } from "../receive/index.ts";
import type { DistinctHeaders } from "../verify/index.ts";
import type { Diagnosing } from "./diagnosing.ts";
import type { GateRules } from "./gate.ts";

export type HeardVerdict =
  | { readonly verdict: "right" | "not allowed" | "wrong" }
  | { readonly verdict: "too many"; readonly waitSeconds: number };

/** What listeners need. */
export interface HeardAccess {
  readonly hearing: Hearing;
  /** Judges a token by the admin API's own count of wrong ones. @param address as `normalAddress` returns it */
  readonly judge: (token: string, address: string) => HeardVerdict;
}

/** @param ms from its arrival @param source undefined where it came to none */
export type Answered = (
  reception: Pick<Reception, "outcome" | "eventId" | "eventType">,
  status: number,
  ms: number,
  source?: string,
) => void;

/** Whether the headers prove a request of this receiver's own, by which it checks a registered address. */
export type IsEndpointCheck = (headers: DistinctHeaders) => boolean;

/** What the public listener works with; made once at the start. */
export interface PublicDeps {
  readonly source: Source;
  readonly receiver: Receiver;
  readonly oauth: {
    readonly redirect: RedirectDeps;
    readonly start: StartDeps;
    /** Why no flow can start, and what to do; undefined where one can. */
    readonly startRefusal: string | undefined;
    /** Where a browser goes after its flow. */
    readonly successUrl: string;
  };
  readonly gate: GateRules;
  readonly mask: Mask;
  readonly metrics: Metrics;
  readonly callbackLog: CallbackLog;
  readonly diagnosing: Diagnosing;
  readonly isEndpointCheck: IsEndpointCheck;
  /** Null where callbacks are not kept for listeners: always in production. */
  readonly heard: HeardAccess | null;
  /** Counts an answered callback, wherever callbacks are counted; may not throw. */
  readonly answered: Answered;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this listener itself speaks TLS. */
  readonly tls: boolean;
}
