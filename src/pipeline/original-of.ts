import type { Outcome } from "../domain/index.ts";
import type { KeptEvent, OriginalRequest } from "../store/index.ts";
import type { Callback, Delivery } from "./receiver.ts";

/**
 * The original of an event, as references only: most events are never stored by themselves.
 * @param body of the event, where the callback brings several
 */
export function originalOf(callback: Callback, body: Uint8Array): OriginalRequest | undefined {
  const { source, method, target, rawHeaders, receivedAt } = callback;
  if (source.keeper === undefined || rawHeaders === undefined || receivedAt === undefined) return undefined;
  return { receivedAt, method, target, rawHeaders, body, keeper: source.keeper };
}

/** An event that no handler took, with its original. Its log entry is all that is stored of it, so both go together. */
export function unhandledEvent(
  { key, version, original }: Pick<Delivery, "key" | "version" | "original">,
  outcome: Outcome,
  eventType: string | undefined,
): KeptEvent | undefined {
  if (original === undefined || eventType === undefined) return undefined;
  const isUnknown = outcome.kind === "refused" && outcome.code === "event_type_unknown";
  if (outcome.kind !== "ignored" && !isUnknown) return undefined;
  return { record: { ...key, eventType, version }, completion: { original } };
}
