import type { CallbackLogRow, Clock, EventKey, JsonObject, Log, Outcome, Version } from "../domain/index.ts";
import type { AttemptKind, Registry, UserTokens } from "../handlers/index.ts";
import type { Sealer } from "../seal/index.ts";
import type { Deadline, Store } from "../store/index.ts";
import type { Tracer } from "../trace/index.ts";
import type { Credential, DistinctHeaders, Scheme } from "../verify/index.ts";
import type { Places } from "./places.ts";
import type { RunTurns } from "./run-turns.ts";
import type { SingleFlight } from "./single-flight.ts";

/** A configured sender: what tells its callbacks from anybody else's. */
export interface Source {
  readonly name: string;
  readonly scheme: Scheme;
}

/** One request of a platform, as it arrived. */
export interface Callback {
  readonly source: Source;
  /** From the path or `X-API-Version` (SPEC 9). */
  readonly version: Version;
  readonly headers: DistinctHeaders;
  readonly body: Uint8Array;
  readonly deadline: Deadline;
  /** Called once its authentication is known, whatever came of it. */
  readonly verified?: () => void;
}

/** How a callback ended, and what was learnt of it on the way, for the log and the metrics. */
export interface Reception {
  readonly outcome: Outcome;
  readonly eventId?: string;
  readonly eventType?: string;
  /** The body, where it is JSON of an event. */
  readonly bodyJson?: JsonObject;
}

/** The rules of the sequence that configuration sets. */
export interface ReceiveRules {
  readonly eventTypeFrom: "header" | "body" | "either";
  readonly rejectTypeMismatch: boolean;
  readonly handlerTimeoutMs: number;
  readonly retry: { readonly max: number; readonly delaySeconds: number };
  /** Set where records are deleted: older events can no longer be told from duplicates. */
  readonly recordRetentionDays: number | null;
}

/** Told what happens; none of it may throw. */
export interface Observer {
  attempted(kind: AttemptKind, outcome: Outcome): void;
  credentialsUsed(credentials: readonly Credential[]): void;
  bodyMismatch(key: EventKey): void;
  typeMismatch(key: EventKey, header: string, body: string): void;
}

/** What the sequence works with; made once at the start. */
export interface Receiver {
  readonly store: Store;
  readonly registry: Registry;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly log: Log;
  readonly rules: ReceiveRules;
  readonly observer: Observer;
  /** Undefined where tracing is off. */
  readonly tracer: Tracer | undefined;
  readonly flights: SingleFlight;
  readonly places: Places;
  /** Of retries and replays; callbacks take none. */
  readonly turns: RunTurns;
  /** The users' access tokens, for `prepare`. */
  readonly tokens: UserTokens;
  /** Results of `prepare` that the database did not take, by event, as JSON. */
  readonly unsaved: Map<string, string>;
  /** An error with stack and causes, secrets masked, for the failures list. */
  readonly describe: (error: unknown) => string;
}

/** Builds the log row of a success, which commits with the event (SPEC 1.7 g). */
export type RowOf = (reception: Reception) => CallbackLogRow;
