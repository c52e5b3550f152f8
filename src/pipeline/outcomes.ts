import { type AlreadyProcessed, type Ignored, keyText, type Refused, refused } from "../domain/index.ts";
import type { StoredRecord } from "../store/index.ts";
import type { Delivery, Receiver } from "./receiver.ts";

/** In the place of a body's hash where the bytes that the platform would have sent are not known. */
export const UNKNOWN_BYTES = "";

/** The outcome of a delivery whose event has a record: reports another body, and drops an unsaved result of `prepare`. */
export function duplicateOutcome(
  record: StoredRecord,
  bodySha256: string,
  { observer, unsavedPreparations }: Receiver,
): AlreadyProcessed {
  const isSameBody = [bodySha256, UNKNOWN_BYTES].includes(record.bodySha256) || bodySha256 === UNKNOWN_BYTES;
  if (!isSameBody) observer.bodyMismatch({ source: record.source, eventId: record.eventId });
  if (unsavedPreparations.size > 0) unsavedPreparations.delete(keyText(record));
  return { kind: "already_processed", result: record.result, isSameBody };
}

/**
 * How an event ends that no handler runs: its source's filters leave it out, or its type has no handler.
 * @throws what a filter throws
 */
export function unwantedOutcome(
  { key, version, contract, content }: Delivery,
  eventType: string,
  { registry }: Receiver,
): Ignored | Refused | undefined {
  if (contract.isWanted?.(content, eventType) === false) return { kind: "ignored" };
  if (registry.find(key.source, version, eventType) !== undefined) return undefined;
  return contract.unhandled === "ignore" ? { kind: "ignored" } : withoutHandlerOf(eventType, version);
}

export function withoutHandlerOf(eventType: string, version: string): Refused {
  return refused("event_type_unknown", { detail: `no handler for "${eventType}" in ${version}` });
}
