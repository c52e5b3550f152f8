import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { CallbackEvent, JsonObject, JsonValue, Log, PathKey, RetryOptions, Version } from "../domain/index.ts";
import type { Migration, Transaction } from "../store/index.ts";

/** The argument of `prepare`: outside work belongs there, writes belong in `handle`. */
export interface PrepareContext<Data = JsonObject> {
  readonly event: CallbackEvent<Data>;
  /** The configured source's name. */
  readonly source: string;
  /** Of a source whose path has parameters: their values, joined by `/`. */
  readonly tenant: string | undefined;
  readonly version: Version;
  /** Aborted at the time limit; pass it on to `fetch`. */
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly tokens: UserTokens;
}

/** The access tokens of users who have authorized us; only handlers get them. */
export interface UserTokens {
  /**
   * A token that is valid for another minute at least, refreshed where it has to be.
   * @throws UserTokensMissing when the user has to authorize us, for the first time or again
   */
  for(userId: string): Promise<AccessToken>;
}

export interface AccessToken {
  readonly accessToken: string;
  /** Such as `Bearer`. */
  readonly tokenType: string;
  /** Space-separated; null where the platform did not say. */
  readonly scope: string | null;
  readonly expiresAt: Date | null;
  /** The redirect's parameters beside the code, such as Intuit's `realmId`. The browser sent them: they are not verified. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The user has not authorized us, or the platform takes the authorization for ended. */
export class UserTokensMissing extends Error {
  override readonly name = "UserTokensMissing";
}

/** The argument of `handle`. Everything written through `tx` commits with the event's record, or not at all. */
// biome-ignore lint/suspicious/noExplicitAny: a handler without typed tables may name any
export interface HandleContext<Data = JsonObject, Prepared = undefined, Tables = any>
  extends Omit<PrepareContext<Data>, "tokens"> {
  readonly tx: Transaction<Tables>;
  /** The result of `prepare`, from this or an earlier attempt. */
  readonly prepared: Prepared;
  /** `inline` in the callback itself, `accepted` after its response, `retry` by the loop, `replay` by an operator. */
  readonly attempt: AttemptKind;
  readonly now: Date;
  /** Writes a notification that is delivered after the commit, at least once. */
  notify(topic: string, payload: JsonObject): Promise<void>;
}

export type AttemptKind = "inline" | "accepted" | "retry" | "replay";

export interface HandlerDefinition<
  Schema extends StandardSchemaV1,
  Prepared extends JsonValue | undefined,
  // biome-ignore lint/suspicious/noExplicitAny: a handler without typed tables may name any
  Tables = any,
> {
  /** The name of the source whose events it receives; `platform` when left out. */
  readonly source?: string;
  /**
   * Tells several handlers of one type apart. Each name receives its events once, in a separate transaction, with separate
   * records, retries and failures. Their source is `<source>#<name>`: never change it.
   */
  readonly name?: string;
  /** The event type, as in `X-Event-Type`; `invoice.*` for all that begin with `invoice.`, `*` for all without one. */
  readonly type: string;
  /** The versions it serves (SPEC 9); all of them when left out. */
  readonly versions?: readonly Version[];
  /**
   * Any Standard Schema (Zod, Valibot, ArkType …) for the payload. An event that it rejects does not reach `handle`.
   * Left out, `event.data` is the payload as parsed. `typed<T>()` gives it a type of the platform's SDK. Neither
   * validates anything.
   */
  readonly data?: Schema | undefined;
  /** Replaces its source's `retry`, field by field. Not for the source `platform`. */
  readonly retry?: RetryOptions;
  /** How many runs of it one process does at a time; others wait, no longer than their callbacks may. */
  readonly concurrency?: number;
  /**
   * A place in the event, such as `data.order_id`. Events with the same value there run one after the other, over all
   * processes. Events without a text or an integer there have no order.
   */
  readonly orderBy?: string;
  /**
   * Skips an event that is older than the newest run for its `orderBy`: its result is `{ stale: true }`. Events compare by
   * the platform's time in whole seconds, or by `sequence`. That is a place with an integer or a sortable text, such as a
   * time in UTC by RFC 3339. Equally new events run.
   */
  readonly dropStale?: boolean | { readonly sequence: string };
  /** The handler's own tables. */
  readonly migrations?: readonly Migration[];
  /**
   * Outside I/O that must happen once for an event (a token exchange), before the transaction. Its JSON result is
   * stored encrypted, so that a crash or a rollback after it never repeats it.
   */
  prepare?(context: PrepareContext<StandardSchemaV1.InferOutput<Schema>>): Promise<Prepared>;
  /**
   * The business logic: no outside I/O, since a fault of the database may run it again.
   * @returns a JSON object: the `data` of the response, stored with the record
   * @throws Rejected for a 400 that is not retried; any other error returns 500 and is retried
   */
  handle(
    context: HandleContext<StandardSchemaV1.InferOutput<Schema>, Prepared, Tables>,
  ): Promise<JsonObject> | JsonObject;
}

/** `orderBy` and `dropStale`, as paths into the event's envelope. */
export interface HandlerOrder {
  readonly by: readonly PathKey[];
  /** The place by which events compare in age; undefined where all of them run. */
  readonly staleBy: "time" | readonly PathKey[] | undefined;
}

/** A handler as the service runs it, its types erased. */
export interface Handler {
  readonly source: string;
  readonly name: string | undefined;
  readonly type: string;
  readonly versions: readonly Version[];
  readonly migrations: readonly Migration[];
  readonly retry: RetryOptions | undefined;
  readonly concurrency: number | undefined;
  readonly order: HandlerOrder | undefined;
  readonly data: StandardSchemaV1;
  readonly prepare: ((context: PrepareContext<unknown>) => Promise<JsonValue | undefined>) | undefined;
  readonly handle: (context: HandleContext<unknown, unknown>) => Promise<JsonObject> | JsonObject;
}

const BRAND = Symbol.for("oncehook.Rejected");

/**
 * A handler throws it when the event itself is wrong: the run rolls back, returns 400 and is not retried. The response has
 * the message, so that it must not say more than the platform may know.
 */
export class Rejected extends Error {
  override readonly name = "Rejected";
  readonly [BRAND] = true;
}

/** By brand, since a user's handler may bring another copy of this package. */
export function isRejected(error: unknown): error is Rejected {
  return error instanceof Error && BRAND in error;
}
