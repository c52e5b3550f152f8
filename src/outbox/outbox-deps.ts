import type { Clock, DeliveryPolicy, Log } from "../domain/index.ts";
import type { OutboxStore } from "../store/index.ts";
import type { Tracer } from "../trace/index.ts";
import type { Channel } from "./channel.ts";

/** What the outbox works with; made once at the start. */
export interface OutboxDeps {
  readonly outbox: OutboxStore;
  readonly channels: readonly Channel[];
  readonly policy: DeliveryPolicy;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined where tracing is off. */
  readonly tracer?: Tracer | undefined;
  /** An error with its causes, secrets masked. */
  readonly describe: (error: unknown) => string;
  /** Told how each attempt ended; may not throw. */
  readonly attempted: (channel: string, ending: "delivered" | "failed" | "dead") => void;
}
