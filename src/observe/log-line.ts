import type { CallbackLogRow } from "../domain/index.ts";
import type { TraceIds } from "../trace/index.ts";

/** Writes a line whose fields are JSON already; asked for them only where the level is on. */
export type WriteLine = (level: "info" | "warn" | "error", fields: () => string, message: string) => void;

/**
 * One line for a callback, with what SPEC 1.8 lists. Headers and bodies are JSON text that was made a moment ago, and
 * stand in the line as JSON: to escape them once more would cost more than all the rest of it.
 */
export function writeLogLine(write: WriteLine, row: CallbackLogRow, trace?: TraceIds): void {
  const { responseStatus: status } = row;
  write(
    status >= 500 ? "error" : status >= 400 ? "warn" : "info",
    () => fieldsOf(row) + idsOf(trace),
    "callback",
  );
}

function fieldsOf(row: CallbackLogRow): string {
  const duration = Math.round(row.processingMs * 1000) / 1000;
  return (
    `"request_id":${quoted(row.requestId)},"source":${quoted(row.source)},"event_id":${quoted(row.eventId)},` +
    `"event_type":${quoted(row.eventType)},"method":${quoted(row.method)},"url":${quoted(row.url)},` +
    `"remote_address":${quoted(row.remoteAddress)},"headers":${row.requestHeaders},` +
    `"body":${jsonOf(row.requestBody)},"outcome":${quoted(row.outcome)},"status":${row.responseStatus},` +
    `"response":${jsonOf(row.responseBody)},"duration_ms":${duration},"error":${quoted(row.error)}`
  );
}

function idsOf(trace: TraceIds | undefined): string {
  return trace === undefined ? "" : `,"trace_id":"${trace.traceId}","span_id":"${trace.spanId}"`;
}

function quoted(text: string | null): string {
  return JSON.stringify(text);
}

/** A masked body is an object in JSON, or another text. */
function jsonOf(body: string): string {
  return body.startsWith("{") ? body : quoted(body);
}
