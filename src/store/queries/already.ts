import type { EventKey } from "../../domain/index.ts";
import type { OnceEnding, StoredRecord } from "../store.ts";

/**
 * The ending of a delivery whose record was there.
 * @throws Error for a record that is not completed: only a handler that committed by itself can leave one
 */
export function already(record: StoredRecord | undefined, { eventId }: EventKey): OnceEnding {
  if (record?.status === "completed") return { ending: "already", record };
  throw new Error(
    `the record of event "${eventId}" is not completed: a handler committed the transaction itself`,
  );
}
