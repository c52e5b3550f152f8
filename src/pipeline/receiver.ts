import type { AsyncResource } from "node:async_hooks";
import type { EventEmitter } from "node:events";
import type {
  AttemptOutcome,
  CallbackEvent,
  CallbackLogEntry,
  Clock,
  EventKey,
  Log,
  Outcome,
  RetryOptions,
  RetryPolicy,
  Version,
} from "../domain/index.ts";
import type { AttemptKind, Handler, Registry, SharedTimeLimit, UserTokens } from "../handlers/index.ts";
import type { Tracer } from "../observability/tracing/index.ts";
import type {
  Contract,
  Credential,
  EventContent,
  HeldBody,
  PlatformResponse,
  Scheme,
  SignedRequest,
} from "../sources/index.ts";
import type {
  Deadline,
  EventOrder,
  EventReplay,
  KeptEvent,
  OriginalKeeper,
  OriginalRequest,
  Store,
} from "../store/index.ts";
import type { Encryptor, KeyedSemaphore, Release } from "../system/index.ts";
import type { ConcurrencyLimit, EventLock, RunLock } from "./concurrency.ts";
import type { DryRun } from "./dry-run.ts";
import type { StatementRecord } from "./statement-record.ts";

/** When a callback gets its response: once its event was run, at once, or after so many milliseconds at most. */
export type AnswerMode = "inline" | "after" | { readonly withinMs: number };

/** A configured sender. */
export interface Source {
  readonly name: string;
  readonly answer: AnswerMode;
  /** @param ofHandler takes the place of what the source says */
  readonly retry: (ofHandler?: RetryOptions) => RetryPolicy;
  readonly scheme: Scheme;
  readonly contract: Contract;
  /** The headers that prove a callback, in lower case: none of them is ever kept. Undefined where any may. */
  readonly credentialHeaders?: readonly string[] | undefined;
  /** Keeps the originals of its events; undefined where none are kept. */
  readonly keeper?: OriginalKeeper | undefined;
}

/** A body's share of the bound on unverified bytes, until it is known whether it is authentic. */
export interface BodyReservation extends HeldBody {
  /** May be called again. */
  release(): void;
}

export interface Callback extends SignedRequest {
  readonly source: Source;
  /** From the path or `X-API-Version` (SPEC 9). */
  readonly version: Version;
  /** When it arrived, on the scale of `performance.now()`. */
  readonly startedAt: number;
  /** Names and values in turn, as they were sent; undefined where no original is kept of it. */
  readonly rawHeaders?: readonly string[];
  readonly deadline: Deadline;
  /** The asynchronous context in which its handler runs. */
  readonly context: AsyncResource;
  /** Released once its authentication is known, whatever came of it. */
  readonly bodyReservation?: BodyReservation | undefined;
  /** Builds the log entry of a success, which commits with the event (SPEC 1.7 g). */
  readonly buildLogEntry: (result: CallbackResult) => CallbackLogEntry | undefined;
  /** Receives the result of each event of a batch, and of each of several handlers. */
  readonly settleItem: (result: CallbackResult) => void;
  /** Receives the result of the callback; called once. */
  readonly settle: (result: CallbackResult) => void;
}

/** The outcome of a callback, and what is known of it by then, for the log and the metrics. */
export interface CallbackResult {
  readonly outcome: Outcome;
  /** Set where the sender is verified although the result names no event. */
  readonly isVerified?: true;
  /** The response to a handshake. */
  readonly response?: PlatformResponse | undefined;
  /** Of the event's key, which names its tenant too. */
  readonly source?: string | undefined;
  readonly eventId?: string | undefined;
  readonly eventType?: string | undefined;
  /** The part of the body that is this event, where the callback brought several. */
  readonly itemBody?: Uint8Array | undefined;
  /** Undefined where the body was not parsed. */
  readonly isJson?: boolean | undefined;
  /** The entry of the callback log, where it committed with the event. */
  readonly logEntry?: CallbackLogEntry | undefined;
  /** Set where no handler took the event and its original is kept: with its log entry. */
  readonly unhandled?: KeptEvent | undefined;
  /** The source of the key, where the type has several handlers: `stripe`, `stripe#audit`. */
  readonly keySource?: string;
  /** Set for the common outcome of several handlers, each of which has settled its outcome. */
  readonly isCombined?: true;
}

/** An authenticated delivery of an identified event. */
export interface Delivery
  extends Pick<Callback, "version" | "deadline" | "context" | "buildLogEntry" | "settle">,
    Partial<Pick<Callback, "settleItem">> {
  readonly key: EventKey;
  readonly content: EventContent;
  /** Without `invalid` an event that is refused is not kept: an OAuth redirect is no event of a platform. */
  readonly contract: Pick<Contract, "unhandled" | "isWanted" | "keysChangeWithDelivery"> &
    Partial<Pick<Contract, "invalid">>;
  /** It is kept where its event's type cannot be read. */
  readonly callback?: Callback;
  /** Kept with the event's record, or with its failure. */
  readonly original?: OriginalRequest | undefined;
  /** Set where a kept callback is read and run again; default: the first attempt, in a callback. */
  readonly rerun?: Rerun;
  readonly answer: AnswerMode;
  /** When the platform has its response at the latest, on the scale of `performance.now()`; only in mode `within`. */
  readonly answerBy?: number | undefined;
}

/** Receives what happens; none of it may throw. */
export interface Observer {
  attempted(key: EventKey, kind: AttemptKind, outcome: AttemptOutcome): void;
  /** @param tenant of a source whose path has parameters */
  credentialsUsed(source: string, credentials: readonly Credential[], tenant?: string | undefined): void;
  /** The first attempt of an event that was accepted then has failed, or was rejected. */
  acceptedFailed(key: EventKey, acceptedAt: Date, isRejected: boolean): void;
  bodyMismatch(key: EventKey): void;
  /** A handler ended within its transaction, well or badly. @param type of the handler: a pattern, perhaps */
  handlerRan(key: EventKey, type: string, durationMs: number): void;
  /** An event was not run, since a newer one of its `orderBy` has. */
  staleEvent(key: EventKey): void;
}

/** The parts that the sequence works with; made once at the start. */
export interface Receiver {
  readonly store: Store;
  readonly sourcesByName: ReadonlyMap<string, Source>;
  readonly registry: Registry;
  readonly encryptor: Encryptor;
  readonly clock: Clock;
  /** Draws from 0 up to 1. */
  readonly chance: () => number;
  readonly log: Log;
  readonly settings: {
    readonly handlerTimeoutMs: number;
    readonly retry: {
      /** How long a retry or replay may wait for the database and for other deliveries; the handler's limit is added. */
      readonly timeLimitMs: number;
      /** How long it may take in all; after that the process that held its lease counts as dead. */
      readonly leaseMs: number;
    };
    /** Set where records are deleted: older events can no longer be told from duplicates. */
    readonly recordRetentionDays: number | null;
  };
  readonly observer: Observer;
  /** Undefined where tracing is off. */
  readonly tracer: Tracer | undefined;
  readonly eventLock: EventLock;
  /** Of handlers with `concurrency` or `orderBy`; others take none. */
  readonly handlerSlots: KeyedSemaphore;
  readonly handlerLimit: SharedTimeLimit;
  readonly concurrency: ConcurrencyLimit;
  /** The lock of retries and replays; callbacks do not take it. */
  readonly runLock: RunLock;
  readonly tokens: UserTokens;
  /** Emits `accepted` when an accepted event may run at once. */
  readonly events: EventEmitter<{ accepted: [] }>;
  /** Results of `prepare` that the database did not take, by event, as JSON. */
  readonly unsavedPreparations: Map<string, string>;
  /** An error with stack and causes, secrets masked, for the failures list. */
  readonly describeError: (error: unknown) => string;
  /** Set where the statements of handlers are recorded. */
  readonly statementLog?: StatementLog | undefined;
}

/** A run of a handler that has ended. */
export interface RecordedRun {
  readonly key: EventKey;
  readonly kind: AttemptKind;
  readonly outcome: AttemptOutcome;
  readonly record: StatementRecord;
}

/** Keeps what handlers ran, for people to read. */
export interface StatementLog {
  /** It must not throw. */
  note(run: RecordedRun): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** How the events of a kept callback are run again. */
export type Rerun = Pick<AttemptInput, "kind" | "mode" | "dryRun" | "stopping"> &
  Required<Pick<AttemptInput, "keptAt">>;

/** An identified event that is about to be run: from a callback, the retry loop or an operator. */
export interface AttemptInput {
  readonly key: EventKey;
  /** Its envelope and the bytes that a retry will find it in. */
  readonly content: Pick<EventContent, "json" | "body" | "bodySha256">;
  readonly version: Version;
  readonly eventType: string;
  readonly deadline: Deadline;
  /** Aborted when the process stops: the attempt waits for no other process's work. */
  readonly stopping?: AbortSignal | undefined;
  /** Set where an event that would wait for a slot is accepted instead. It waits in the database, and holds no place. */
  readonly mayBeAccepted?: boolean;
  readonly kind: AttemptKind;
  /** When it was accepted or first failed; absent in its callback. */
  readonly keptAt?: Date;
  /** `dry-run`: run it, then roll everything back. */
  readonly mode: "commit" | "dry-run";
  readonly dryRun?: DryRun | undefined;
  /** The asynchronous context in which its handler runs; a group runs in that of another event. */
  readonly context?: AsyncResource;
  /** Set where a handled event is run again: its result replaces the one of its record. */
  readonly replaces?: EventReplay | undefined;
  /** The original that commits with a success, where a callback started the attempt. */
  readonly original?: OriginalRequest | undefined;
  /** The log entry that commits with a success, where a callback started the attempt. */
  readonly buildLogEntry?: (outcome: AttemptOutcome) => CallbackLogEntry | undefined;
}

/** An attempt whose handler was found and whose event is valid. */
export interface ValidatedAttempt {
  readonly input: AttemptInput;
  readonly handler: Handler;
  readonly event: CallbackEvent<unknown>;
  /** Held from before the start until the end of a handler with `concurrency` or `orderBy`. */
  readonly slot?: { readonly order: EventOrder | undefined; readonly release: Release } | undefined;
}
