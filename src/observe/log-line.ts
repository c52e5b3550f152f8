import type { CallbackLogRow, Log } from "../domain/index.ts";

/** One line for a callback, with what SPEC 1.8 lists; the logger adds the time. */
export function writeLogLine(logger: Log, row: CallbackLogRow): void {
  const fields = {
    request_id: row.requestId,
    source: row.source,
    event_id: row.eventId,
    event_type: row.eventType,
    method: row.method,
    url: row.url,
    remote_address: row.remoteAddress,
    headers: row.requestHeaders,
    body: row.requestBody,
    outcome: row.outcome,
    status: row.responseStatus,
    response: row.responseBody,
    duration_ms: Math.round(row.processingMs * 1000) / 1000,
    error: row.error,
  };
  if (row.responseStatus >= 500) logger.error(fields, "callback");
  else if (row.responseStatus >= 400) logger.warn(fields, "callback");
  else logger.info(fields, "callback");
}
