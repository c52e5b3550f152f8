import { type AlreadyProcessed, alreadyProcessed } from "../domain/index.ts";
import type { StoredRecord } from "../store/index.ts";
import type { Receiver } from "./callback.ts";

/** The ending of a delivery whose event has a record; another body under the same id is told of. */
export function handledBefore(
  record: StoredRecord,
  bodySha256: string,
  { observer }: Receiver,
): AlreadyProcessed {
  const isSameBody = record.bodySha256 === bodySha256;
  if (!isSameBody) observer.bodyMismatch({ source: record.source, eventId: record.eventId });
  return alreadyProcessed(record.result, isSameBody);
}
