import { type AlreadyProcessed, keyText } from "../domain/index.ts";
import type { StoredRecord } from "../store/index.ts";
import type { Receiver } from "./receiver.ts";

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
