import type { ReadOrigin } from "../http/exchange/index.ts";
import type { Receiver, ReceiverOptions } from "./receiver.ts";

/** A receiver as `createReceiver` makes it, with the members that only the adapters use. */
export interface ApplicationReceiver extends Receiver {
  readonly originOf: ReadOrigin;
  /** Those of its addresses; a part such as `:shop` is a parameter. */
  readonly paths: readonly string[];
  readonly background: NonNullable<ReceiverOptions["background"]>;
}

/**
 * @param call of the adapter, as it stands in the application
 * @throws TypeError for anything that `createReceiver` has not returned, such as a copy without its methods
 */
export function applicationReceiver(receiver: Receiver, call: string): ApplicationReceiver {
  const { paths, originOf, handle } = (receiver ?? {}) as Partial<ApplicationReceiver>;
  if (Array.isArray(paths) && typeof originOf === "function" && typeof handle === "function")
    return receiver as ApplicationReceiver;
  throw new TypeError(
    `${call}: expected the receiver that createReceiver returns, and got ${kindOf(receiver)}; hand over that object ` +
      "itself, and no copy or wrapper of it",
  );
}

function kindOf(value: unknown): string {
  if (value instanceof Promise) return "a promise: await it first";
  return typeof value === "object" && value !== null ? "another object" : String(value);
}
