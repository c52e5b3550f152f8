import type { Clock, EventKey, Log } from "../domain/index.ts";
import type { CallbackLog, Metrics } from "../observe/index.ts";
import type { ReplayEnding } from "../retry/index.ts";
import type { Store } from "../store/index.ts";

/** What the admin listener works with; made once at the start. */
export interface AdminDeps {
  readonly token: string;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly callbackLog: CallbackLog;
  /** The configured channels of notifications, as deliveries are kept under them. */
  readonly destinations: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly replay: (key: EventKey, mode: "commit" | "rehearse") => Promise<ReplayEnding>;
  /** Ends a user's authorization; false when there are no tokens. */
  readonly revoke: (userId: string, where: "everywhere" | "here") => Promise<boolean>;
  readonly discard: (key: EventKey) => Promise<"discarded" | "absent" | "leased">;
  /** An error with stack and causes, secrets masked. */
  readonly describe: (error: unknown) => string;
  /** Writes down what this process has counted for the overview. */
  readonly countNow: () => Promise<void>;
  /** False while the process starts or drains, so that no new work is sent to it. */
  readonly isServing: () => boolean;
  /** The redirect address that the sandbox platform knows; null where there is none (never one in production). */
  readonly sandbox: string | null;
}
