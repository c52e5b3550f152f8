import type { Selectable } from "kysely";
import {
  type CallbackLogRow,
  type FaultCode,
  isOfStranger,
  logRowBytes,
  storedDiagnosis,
} from "../../domain/index.ts";
import type { StoredDelivery, StoredNotification } from "../outbox-store.ts";
import type { LoggedCallback, StoredFailure, StoredRecord } from "../store.ts";
import type {
  CallbackRow,
  DeliveryRow,
  FailureRow,
  NotificationRow,
  RecordRow,
  StoredTime,
} from "../tables.ts";

export function isoTime(time: StoredTime): string {
  return typeof time === "string" ? time : time.toISOString();
}

/** PostgreSQL stores no NUL in text; a log row must not be lost for one. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\uFFFD");
}

export function toRecord(row: Selectable<RecordRow>): StoredRecord {
  return {
    id: Number(row.id),
    source: row.source,
    eventId: row.event_id,
    eventType: row.event_type,
    version: row.version,
    status: row.status,
    bodySha256: row.body_sha256,
    result: row.result === null ? null : JSON.parse(row.result),
    createdAt: isoTime(row.created_at),
    processedAt: row.processed_at === null ? null : isoTime(row.processed_at),
  };
}

export function toFailure(row: Selectable<FailureRow>): StoredFailure {
  return {
    id: Number(row.id),
    source: row.source,
    eventId: row.event_id,
    eventType: row.event_type,
    version: row.version,
    state: row.state,
    attempts: row.attempts,
    retriesDone: row.retries_done,
    code: row.code as FaultCode,
    error: row.error,
    sealedBody: row.sealed_body,
    bodySha256: row.body_sha256,
    firstFailedAt: isoTime(row.first_failed_at),
    lastFailedAt: isoTime(row.last_failed_at),
    nextAttemptAt: row.next_attempt_at === null ? null : isoTime(row.next_attempt_at),
    leasedUntil: row.leased_until === null ? null : isoTime(row.leased_until),
    uncleanEnds: row.unclean_ends,
  };
}

export function toNotification(row: Selectable<NotificationRow>): StoredNotification {
  return {
    id: Number(row.id),
    idempotencyKey: `${row.source}/${row.event_id}/${row.position}`,
    source: row.source,
    eventId: row.event_id,
    topic: row.topic,
    payload: JSON.parse(row.payload),
    createdAt: isoTime(row.created_at),
  };
}

export function toDelivery(row: Selectable<DeliveryRow>): StoredDelivery {
  return {
    id: Number(row.id),
    channel: row.channel,
    state: row.state,
    attempts: row.attempts,
    error: row.error,
    nextAttemptAt: row.next_attempt_at === null ? null : isoTime(row.next_attempt_at),
    deliveredAt: row.delivered_at === null ? null : isoTime(row.delivered_at),
  };
}

export function toLoggedCallback(row: Selectable<CallbackRow>): LoggedCallback {
  return {
    id: Number(row.id),
    requestId: row.request_id,
    receivedAt: isoTime(row.received_at),
    source: row.source,
    eventId: row.event_id,
    eventType: row.event_type,
    method: row.method,
    url: row.url,
    remoteAddress: row.remote_address,
    requestHeaders: row.request_headers,
    requestBody: row.request_body,
    outcome: row.outcome as CallbackLogRow["outcome"],
    responseStatus: row.response_status,
    responseBody: row.response_body,
    processingMs: row.processing_ms,
    error: row.error,
    ...(row.diagnosis === null ? {} : { diagnosis: storedDiagnosis(row.diagnosis) }),
    ...(row.left_out === null ? {} : { leftOut: JSON.parse(row.left_out) }),
  };
}

/** The columns that only rows of strangers have, so that no event's callback names them. */
export const STRANGER_COLUMNS = [
  "diagnosis",
  "refused_bytes",
  "left_out",
] as const satisfies readonly (keyof CallbackRow)[];

/** The values of `STRANGER_COLUMNS`; undefined for a row that belongs to an event. */
export function strangerValues(
  row: CallbackLogRow,
): readonly [string | null, number, string | null] | undefined {
  if (!isOfStranger(row)) return undefined;
  const { diagnosis, leftOut } = row;
  return [
    diagnosis === undefined ? null : storableText(JSON.stringify(diagnosis)),
    logRowBytes(row),
    leftOut === undefined ? null : JSON.stringify(leftOut),
  ];
}

/** The columns of a log row, in the one order that every insert uses. */
export const CALLBACK_COLUMNS = [
  "request_id",
  "received_at",
  "source",
  "event_id",
  "event_type",
  "method",
  "url",
  "remote_address",
  "request_headers",
  "request_body",
  "outcome",
  "response_status",
  "response_body",
  "processing_ms",
  "error",
  "with_record",
] as const satisfies readonly (keyof CallbackRow)[];

/** The values of a log row in the order of `CALLBACK_COLUMNS`. */
export function callbackValues(row: CallbackLogRow, withRecord: 0 | 1): (string | number | null)[] {
  return [
    row.requestId,
    row.receivedAt,
    row.source,
    row.eventId === null ? null : storableText(row.eventId),
    row.eventType === null ? null : storableText(row.eventType),
    storableText(row.method),
    storableText(row.url),
    row.remoteAddress,
    storableText(row.requestHeaders),
    storableText(row.requestBody),
    row.outcome,
    row.responseStatus,
    storableText(row.responseBody),
    row.processingMs,
    row.error === null ? null : storableText(row.error),
    withRecord,
  ];
}
