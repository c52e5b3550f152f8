import { sql } from "kysely";
import { type CallbackLogEntry, isWithoutEvent, logEntryBytes } from "../domain/index.ts";
import { columnName, storableText } from "./database.ts";

/** The fields of an entry that every insert writes, each to a column of its own, in one order. */
const FIELDS = [
  "requestId",
  "receivedAt",
  "source",
  "eventId",
  "eventType",
  "method",
  "url",
  "remoteAddress",
  "requestHeaders",
  "requestBody",
  "outcome",
  "responseStatus",
  "responseBody",
  "processingMs",
  "error",
] as const satisfies readonly (keyof CallbackLogEntry)[];
const FIELD_COLUMNS = FIELDS.map(columnName);
export const CALLBACK_COLUMNS: readonly string[] = [...FIELD_COLUMNS, "with_record"];

/** The values of a log row in the order of `CALLBACK_COLUMNS`. */
export function callbackValues(entry: CallbackLogEntry, withRecord: 0 | 1): (string | number | null)[] {
  const values: (string | number | null)[] = FIELDS.map((field) => {
    const value = entry[field];
    return typeof value === "string" ? storableText(value) : value;
  });
  values.push(withRecord);
  return values;
}

/** The columns that only refused callbacks have: the insert of an event's row names none of them. */
export const REFUSED_COLUMNS = ["diagnosis", "refused_bytes", "left_out"] as const;

/** The values of `REFUSED_COLUMNS`; undefined for a row of an event. */
export function refusedValues(entry: CallbackLogEntry): readonly [string | null, number, string | null] | undefined {
  if (!isWithoutEvent(entry)) return undefined;
  const { diagnosis, leftOut } = entry;
  return [
    diagnosis === undefined ? null : storableText(JSON.stringify(diagnosis)),
    logEntryBytes(entry),
    leftOut === undefined ? null : JSON.stringify(leftOut),
  ];
}

export interface StoredCallback extends CallbackLogEntry {
  readonly id: number;
}

export const STORED_COLUMNS = sql.raw(["id", ...FIELD_COLUMNS, "diagnosis", "left_out"].join(", "));

/** A row with `STORED_COLUMNS`. */
export interface CallbackRow extends Omit<StoredCallback, "diagnosis" | "leftOut"> {
  readonly diagnosis: string | null;
  readonly leftOut: string | null;
}

export function toStoredCallback({ diagnosis, leftOut, ...entry }: CallbackRow): StoredCallback {
  return {
    ...entry,
    ...(diagnosis === null ? {} : { diagnosis: JSON.parse(diagnosis) }),
    ...(leftOut === null ? {} : { leftOut: JSON.parse(leftOut) }),
  };
}
