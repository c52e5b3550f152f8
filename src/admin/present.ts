import type { StoredCallback, StoredFailure, StoredRecord } from "../store/index.ts";
import type { CallbackView, EventView, FailureView } from "./schemas.ts";

export function presentCallback(row: StoredCallback): CallbackView {
  return {
    id: row.id,
    request_id: row.requestId,
    timestamp: row.receivedAt,
    source: row.source,
    event_id: row.eventId,
    event_type: row.eventType,
    method: row.method,
    url: row.url,
    remote_address: row.remoteAddress,
    headers: JSON.parse(row.requestHeaders) as Record<string, string>,
    body: row.requestBody,
    outcome: row.outcome,
    response_status: row.responseStatus,
    response_body: row.responseBody,
    processing_ms: row.processingMs,
    error: row.error,
    diagnosis: row.diagnosis ?? null,
    left_out: row.dropped ?? null,
  };
}

export function presentRecord(row: StoredRecord): EventView {
  return {
    id: row.id,
    source: row.source,
    event_id: row.eventId,
    event_type: row.eventType,
    version: row.version,
    status: row.status,
    result: row.result,
    created_at: row.createdAt,
    processed_at: row.processedAt,
  };
}

export function presentFailure(row: StoredFailure): FailureView {
  return {
    id: row.id,
    source: row.source,
    event_id: row.eventId,
    event_type: row.eventType,
    version: row.version,
    state: row.state,
    attempts: row.attempts,
    retries_done: row.retriesDone,
    code: row.code,
    error: row.error,
    first_failed_at: row.firstFailedAt,
    last_failed_at: row.lastFailedAt,
    next_attempt_at: row.nextAttemptAt,
  };
}
