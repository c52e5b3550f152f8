import type { StoredNotification } from "../store/index.ts";

/** One way out for notifications. */
export interface Channel {
  /** Kept with each delivery: never rename one. */
  readonly name: string;
  /**
   * Resolves when the other side has taken it.
   * @throws DeliveryRefused when asking again will not help; another error when it may
   */
  deliver(notification: StoredNotification, signal: AbortSignal): Promise<void>;
  close?(): Promise<void>;
}

/** The other side wants it no more, or never: the delivery is dead and waits for a person. */
export class DeliveryRefused extends Error {
  override readonly name = "DeliveryRefused";
}

/** The other side asked for a pause. */
export class DeliveryPostponed extends Error {
  override readonly name = "DeliveryPostponed";
  readonly seconds: number;

  constructor(message: string, seconds: number) {
    super(message);
    this.seconds = seconds;
  }
}
