import { type CallbackLogEntry, parseJson } from "../domain/index.ts";
import type { TraceIds } from "./tracing/index.ts";

/** Writes a line whose fields are JSON already; asked for them only where the level is on. */
export type WriteLine = (level: "info" | "warn" | "error", fields: () => string, message: string) => void;

/** The facts of a line beside the row. */
export interface Line {
  readonly trace?: TraceIds | undefined;
  /** Whether the request's body is JSON for certain; else that is found out. */
  readonly isJson?: boolean | undefined;
  /** Milliseconds from arrival to the response, where the row has another time. */
  readonly processingMs?: number | undefined;
  /** Without headers and bodies, which the row has. */
  readonly isShort?: boolean;
}

const LONGEST_SHORT_URL = 256;

/**
 * One line for a callback, with the fields that SPEC 1.8 lists. Headers and bodies are JSON text that was made a moment
 * ago, and stand in the line as JSON. Escaping them once more would cost more than all the rest of the line.
 */
export function writeLogLine(write: WriteLine, row: CallbackLogEntry, line: Line = {}): void {
  const { responseStatus: status } = row;
  const level = status >= 500 ? "error" : status >= 400 ? "warn" : "info";
  write(level, () => fieldsOf(row, line), "callback");
}

function fieldsOf(row: CallbackLogEntry, { isJson, isShort = false, processingMs = row.processingMs, trace }: Line) {
  const duration = Math.round(processingMs * 1000) / 1000;
  const ids = trace === undefined ? "" : `"trace_id":"${trace.traceId}","span_id":"${trace.spanId}",`;
  const start =
    `"request_id":${quoted(row.requestId)},"source":${quoted(row.source)},"event_id":${quoted(row.eventId)},` +
    `"event_type":${quoted(row.eventType)},"method":${quoted(row.method)},"remote_address":${quoted(row.remoteAddress)},` +
    `"outcome":${quoted(row.outcome)},"status":${row.responseStatus},"duration_ms":${duration},${ids}`;
  if (isShort) return `${start}"url":${quoted(row.url.slice(0, LONGEST_SHORT_URL))},"shortened":true`;
  return (
    `${start}"url":${quoted(row.url)},"headers":${row.requestHeaders},${bodyField("body", row.requestBody, isJson)},` +
    `${bodyField("response", row.responseBody, true)},"error":${quoted(row.error)}`
  );
}

const quoted = (text: string | null): string => JSON.stringify(text);

const LINE_BREAKS = /[\r\n]+/g;

/**
 * An object in JSON stands as it is, save for line breaks, which stand only between its values. Any other text has a field of
 * its own, such as `body_text`: a log store gives each field one type.
 */
function bodyField(name: "body" | "response", body: string, isJson = false): string {
  // Without blanks and a byte order mark before it.
  const text = body.trimStart();
  const isObject = text.startsWith("{") && (isJson || parseJson(text) !== undefined);
  if (!isObject) return `"${name}_text":${quoted(body)}`;
  return `"${name}":${text.includes("\n") || text.includes("\r") ? text.replace(LINE_BREAKS, " ") : text}`;
}
