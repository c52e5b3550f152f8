import { type CallbackLogEntry, type Outcome, outcomeName } from "../domain/index.ts";
import type { Mask } from "../observability/index.ts";
import { type CallbackResult, errorText } from "../pipeline/index.ts";
import type { NewLogRow } from "../store/index.ts";
import type { ReceiveDependencies } from "./dependencies.ts";
import type { RequestContext } from "./request-context.ts";
import type { CallbackResponse } from "./responses.ts";

/** Step (g) of SPEC 1.7 where the entry did not commit with the event. */
export function createRequestLog({ maskFor, callbackLog, diagnoser }: ReceiveDependencies) {
  function dropped({ exchange: { address, target } }: RequestContext, outcome: Outcome, source: string | null = null) {
    return { outcome: outcomeName(outcome), remoteAddress: address, url: () => maskFor(source).url(target) };
  }

  return {
    dropped,
    /** Runs after the response, so that no caller waits for the log of a request that was refused or failed. */
    write(request: RequestContext, result: CallbackResult, response: CallbackResponse, source: string | null = null) {
      const { outcome, isJson = false, logEntry } = result;
      const processingMs = performance.now() - request.startedAt;
      const trace = request.span?.ids;
      // It is in the store already.
      if (outcome.kind === "success" && outcome.isRepeated !== true && logEntry !== undefined)
        return callbackLog.writeLine(logEntry, { trace, isJson, processingMs });
      const ended = { source, result, response, processingMs };
      if (isAuthentic(result)) {
        const entry = logEntryOf(request, ended, maskFor(source));
        callbackLog.writeLine(entry, { trace, isJson });
        const { unhandled } = result;
        const row: NewLogRow = unhandled === undefined ? entry : { ...entry, unhandled };
        return callbackLog.addEntry(row);
      }
      // A flood of refused requests is cheap: past the bound nothing is masked, parsed or written.
      const short = dropped(request, outcome, source);
      if (!callbackLog.admitRefused(short)) return;
      callbackLog.addRefused({
        ...short,
        body: request.body,
        trace,
        diagnosis: diagnoser.start(request, outcome, source),
        entry: (sha256) => logEntryOf(request, { ...ended, sha256 }, maskFor(source)),
      });
    },
  };
}

/** Without an event id a request was refused before it was known to be authentic, or names no event. */
export function isAuthentic({ outcome, eventId, isVerified }: CallbackResult): boolean {
  return eventId !== undefined || isVerified === true || outcome.kind === "success";
}

interface LogEntryInput {
  readonly source: string | null;
  readonly result: CallbackResult;
  readonly response: CallbackResponse;
  readonly processingMs: number;
  /** Of a long body that was hashed already. */
  readonly sha256?: string | undefined;
}

/** The log entry of one callback (SPEC 1.8), masked before it goes anywhere. */
export function logEntryOf(request: RequestContext, ended: LogEntryInput, mask: Mask): CallbackLogEntry {
  const { source, result, response, processingMs, sha256 } = ended;
  const { outcome, eventId = null, eventType = null, itemBody, isJson = false } = result;
  const error = errorOf(outcome);
  const { method, target, address, distinctHeaders } = request.exchange;
  return {
    requestId: request.requestId,
    receivedAt: request.receivedAt.toISOString(),
    source: result.source ?? source,
    eventId,
    eventType,
    method,
    url: mask.url(target),
    remoteAddress: address,
    requestHeaders: JSON.stringify(mask.headers(distinctHeaders)),
    requestBody: mask.body(itemBody ?? request.body, sha256 === undefined ? { isJson } : { isJson, sha256 }),
    outcome: outcomeName(outcome),
    responseStatus: response.status,
    responseBody: mask.body(Buffer.from(response.body), { isJson: response.value !== undefined }),
    processingMs,
    error: error === null ? null : mask.text(error),
  };
}

function errorOf(outcome: Outcome): string | null {
  if (outcome.kind === "failed") return errorText(outcome.cause);
  if (outcome.kind === "refused" || outcome.kind === "rejected")
    return `${outcome.code}: ${outcome.detail ?? outcome.message}`;
  return null;
}
