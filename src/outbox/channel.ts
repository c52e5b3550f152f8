import { hash } from "node:crypto";
import type { StoredNotification } from "../store/index.ts";

/** One way out for notifications. */
export interface Channel {
  readonly name: string;
  /** A notification gets a delivery for each of them; the name is kept with it: never rename one. */
  readonly destinations: readonly string[];
  /** Set where the notifications of handlers do not go there. */
  readonly takesOnly?: "alerts";
  /** How long the other side may take; then the signal is aborted. A lease outlives it. */
  readonly timeLimitMs: number;
  /**
   * Resolves when the other side has taken it. Ends soon after the signal was aborted, and stops all its work. Otherwise
   * the other side could take the notification after the attempt counts as failed.
   * @param traceHeaders for a channel over HTTP, where the attempt is traced
   * @throws PermanentDeliveryError when asking again will not help; the signal's reason; another error when it may
   */
  deliver(
    notification: StoredNotification,
    signal: AbortSignal,
    destination: string,
    traceHeaders?: Readonly<Record<string, string>>,
  ): Promise<void>;
  /** Delivers at once and never fails: where this is the only channel, a delivery needs no lease. */
  deliverNow?(notification: StoredNotification): void;
  close?(): Promise<void>;
}

/** The other side refuses it for good: the delivery is dead until an operator replays or discards it. */
export class PermanentDeliveryError extends Error {
  override readonly name = "PermanentDeliveryError";
}

/** The other side asked for a pause. */
export class DeliveryPostponedError extends Error {
  override readonly name = "DeliveryPostponed";
  readonly seconds: number;

  constructor(message: string, seconds: number) {
    super(message);
    this.seconds = seconds;
  }
}

/**
 * The id that goes out with a notification, the same at every attempt: the receiver tells duplicates by it. A digest,
 * since an event id may hold characters that no header takes.
 */
export function messageId({ idempotencyKey }: StoredNotification): string {
  return `ntf_${hash("sha256", idempotencyKey, "base64url").slice(0, 32)}`;
}
