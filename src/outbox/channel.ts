import { hash } from "node:crypto";
import type { StoredNotification } from "../store/index.ts";

/** One way out for notifications. */
export interface Channel {
  readonly name: string;
  /** A notification gets a delivery for each of them; the name is kept with it: never rename one. */
  readonly destinations: readonly string[];
  /** How many attempts may be under way at a time. */
  readonly concurrency: number;
  /** How long the other side may take; then the signal is aborted. A lease outlives it. */
  readonly timeLimitMs: number;
  /**
   * Resolves when the other side has taken it. Ends soon after the signal was aborted, with nothing of it going on:
   * what still ran could be taken by the other side after it was counted as failed.
   * @param traceHeaders for a channel over HTTP, where the attempt is traced
   * @throws PermanentDeliveryError when asking again will not help; the signal's reason; another error when it may
   */
  deliver(
    notification: StoredNotification,
    signal: AbortSignal,
    destination: string,
    traceHeaders?: Readonly<Record<string, string>>,
  ): Promise<void>;
  /** The same, where it neither takes time nor fails: what comes to the only channel there is needs no lease then. */
  deliverNow?(notification: StoredNotification): void;
  close?(): Promise<void>;
}

/** The other side wants it no more, or never: the delivery is dead and waits for a person. */
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
 * since an event id may hold what no header takes.
 */
export function messageId({ idempotencyKey }: StoredNotification): string {
  return `ntf_${hash("sha256", idempotencyKey, "base64url").slice(0, 32)}`;
}
