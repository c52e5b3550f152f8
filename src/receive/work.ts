import type {
  CallbackEvent,
  CallbackLogRow,
  EventKey,
  JsonObject,
  Outcome,
  Version,
} from "../domain/index.ts";
import type { AttemptKind, Handler } from "../handlers/index.ts";
import type { Deadline } from "../store/index.ts";
import type { Rehearsal } from "./rehearsal.ts";

/** An identified event that is about to be run: from a callback, the retry loop or an operator. */
export interface Work {
  readonly key: EventKey;
  readonly json: JsonObject;
  /** The bytes that were signed. */
  readonly body: Uint8Array;
  readonly bodySha256: string;
  readonly version: Version;
  readonly eventType: string;
  readonly deadline: Deadline;
  readonly kind: AttemptKind;
  /** `rehearse`: run it, then roll everything back. */
  readonly mode: "commit" | "rehearse";
  /** Told what a dry run does. */
  readonly rehearsal?: Rehearsal;
  /** The log row that commits with a success, where the attempt answers a callback. */
  readonly rowOf?: (outcome: Outcome) => CallbackLogRow;
}

/** The same with its handler found and its event validated. */
export interface AttemptWork extends Work {
  readonly handler: Handler;
  readonly event: CallbackEvent<unknown>;
}
