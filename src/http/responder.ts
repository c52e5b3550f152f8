import {
  type CallbackLogEntry,
  type JsonValue,
  type Outcome,
  outcomeName,
  type Refused,
  refused,
  statusOf,
} from "../domain/index.ts";
import type { DroppedCallback, Mask } from "../observability/index.ts";
import { type BuildLogEntry, type CallbackResult, errorText, type Source } from "../pipeline/index.ts";
import type { IsEndpointCheck, PublicDependencies } from "./public-dependencies.ts";
import type { RequestContext } from "./request-context.ts";

export interface CallbackResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text (SPEC 2.5). */
  readonly body: string;
  /** What the text was made of, where it is still at hand. */
  readonly value?: JsonValue;
}

const RETRY_SOON_SECONDS = 5;

/**
 * The one table from outcome to response (SPEC 4.1, 7).
 * @param challenge RFC 9110 §11.6.1: what a 401 says would be accepted
 */
function responseTo(outcome: Outcome, challenge: string): CallbackResponse {
  const status = statusOf(outcome);
  switch (outcome.kind) {
    case "ignored":
    case "handshake":
      return jsonResponse(status, { status: outcome.kind });
    case "success":
      return jsonResponse(status, { status: "success", data: outcome.result });
    case "already_processed":
      return jsonResponse(status, { status: "already_processed" });
    case "refused":
      return jsonResponse(status, { error: outcome.message }, refusalHeaders(outcome, status, challenge));
    case "failed":
      return jsonResponse(
        status,
        { error: status === 503 ? "temporarily unavailable" : "internal error" },
        status === 503 ? { "retry-after": String(RETRY_SOON_SECONDS) } : {},
      );
  }
}

function jsonResponse(
  status: number,
  body: JsonValue,
  headers: Record<string, string> = {},
): CallbackResponse {
  return { status, headers, body: JSON.stringify(body), value: body };
}

function refusalHeaders(
  { retryAfterSeconds, allow = "POST" }: Refused,
  status: number,
  challenge: string,
): Record<string, string> {
  if (status === 401) return { "www-authenticate": challenge };
  if (status === 405) return { allow };
  if (status === 503) return { "retry-after": String(RETRY_SOON_SECONDS) };
  // The rest of a body that is not wanted is not read, so the connection cannot be used again.
  if (status === 413 || status === 415) return { connection: "close" };
  return retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
}

function sendResponse(
  { response, responseHeaders }: Pick<RequestContext, "response" | "responseHeaders">,
  { status, headers, body }: CallbackResponse,
): void {
  if (response.headersSent || response.destroyed) return;
  // RFC 9110 §8.6 and §15.3.5: neither a body nor its length.
  if (status === 204) {
    response.writeHead(status, Object.assign(responseHeaders, headers)).end();
    return;
  }
  response.writeHead(
    status,
    Object.assign(responseHeaders, {
      "content-type": "application/json; charset=utf-8",
      "content-length": String(Buffer.byteLength(body)),
      ...headers,
    }),
  );
  response.end(body);
}

/** Responds to a request that is not authentic: past a few of them, in a later turn of the event loop. */
export function respondInTurn(request: RequestContext, response: CallbackResponse): void {
  const turn = request.turns.next(request.message.socket);
  // The request's body is not kept meanwhile.
  const { response: serverResponse, responseHeaders } = request;
  if (turn === undefined) sendResponse(request, response);
  else void turn.then(() => sendResponse({ response: serverResponse, responseHeaders }, response));
}

export type Render = (
  request: RequestContext,
  outcome: Outcome,
  response: CallbackResponse,
) => CallbackResponse;

interface RespondOptions {
  readonly source?: Pick<Source, "name"> & Partial<Source>;
  readonly render?: Render;
}

/** Steps (g) and (h) of SPEC 1.7: log, and respond. Every request on the public listener ends here. */
export type Responder = ReturnType<typeof createResponder>;

export function createResponder(deps: PublicDependencies) {
  const { mask, callbackLog, diagnoser, onResponse } = deps;
  const { challenge } = deps.source.scheme;

  function responseFor(
    request: RequestContext,
    { outcome, response: ofHandshake }: CallbackResult,
    known: RespondOptions | undefined,
  ): CallbackResponse {
    const { scheme, contract } = known?.source ?? {};
    const wanted = ofHandshake ?? contract?.respond?.(outcome);
    if (wanted !== undefined) return wanted;
    const response = responseTo(outcome, scheme?.challenge ?? challenge);
    return known?.render?.(request, outcome, response) ?? response;
  }

  /** Runs after the response, so that no caller waits for the log of a request that was refused or failed. */
  function writeLog(
    request: RequestContext,
    result: CallbackResult,
    response: CallbackResponse,
    known: RespondOptions | undefined,
  ): void {
    const { outcome, eventId, isVerified, isJson = false, logEntry } = result;
    const processingMs = performance.now() - request.startedAt;
    const trace = request.span?.ids;
    if (outcome.kind === "success" && outcome.isRepeated !== true && logEntry !== undefined) {
      // It is in the store already.
      callbackLog.writeLine(logEntry, { trace, isJson, processingMs });
      return;
    }
    const ended = { source: known?.source?.name ?? null, result, response, processingMs };
    if (outcome.kind === "success" || eventId !== undefined || isVerified === true) {
      const row = logEntryOf(request, ended, mask);
      callbackLog.writeLine(row, { trace, isJson });
      callbackLog.addEntry(row);
      return;
    }
    // A flood of refused requests is cheap: past the bound nothing is masked, parsed or written.
    const dropped = droppedCallback(request, outcome);
    if (!callbackLog.admitRefused(dropped)) return;
    callbackLog.addRefused({
      ...dropped,
      body: request.body,
      trace,
      diagnosis: diagnoser.start(request, outcome),
      entry: (sha256) => logEntryOf(request, { ...ended, sha256 }, mask),
    });
  }

  function droppedCallback({ address, url }: RequestContext, outcome: Outcome): DroppedCallback {
    return { outcome: outcomeName(outcome), remoteAddress: address, url: () => mask.url(url) };
  }

  return {
    responseFor,
    buildLogEntry(
      request: RequestContext,
      result: CallbackResult,
      response: CallbackResponse,
      source: string,
    ): CallbackLogEntry {
      const processingMs = performance.now() - request.startedAt;
      return logEntryOf(request, { source, result, response, processingMs }, mask);
    },
    /** An event of a batch: the callback itself gets one response, and a log entry of its own. */
    logItem(request: RequestContext, result: CallbackResult, known: RespondOptions): void {
      if (result.outcome.kind === "already_processed") return;
      writeLog(request, result, responseFor(request, result, known), known);
    },
    /** @param response where it was made already, for the log entry that committed with the event */
    respond(
      request: RequestContext,
      result: CallbackResult,
      known?: RespondOptions,
      response: CallbackResponse = responseFor(request, result, known),
    ): void {
      if (isAuthentic(result)) sendResponse(request, response);
      else respondInTurn(request, response);
      if (request.isCallback) {
        onResponse(result, response.status, performance.now() - request.startedAt, known?.source?.name);
        writeLog(request, result, response, known);
      } else callbackLog.drop("unknown_address", droppedCallback(request, result.outcome));
      const { outcome, eventId, eventType } = result;
      request.span?.end({
        status: response.status,
        outcome,
        source: known?.source?.name,
        eventId,
        eventType,
      });
    },
  };
}

/** Without an event id a request was refused before it was known to be authentic, or names no event. */
function isAuthentic({ outcome, eventId, isVerified }: CallbackResult): boolean {
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
function logEntryOf(request: RequestContext, ended: LogEntryInput, mask: Mask): CallbackLogEntry {
  const { source, result, response, processingMs, sha256 } = ended;
  const { outcome, eventId = null, eventType = null, itemBody, isJson = false } = result;
  const error = errorOf(outcome);
  return {
    requestId: request.requestId,
    receivedAt: request.receivedAt.toISOString(),
    source,
    eventId,
    eventType,
    method: request.method,
    url: mask.url(request.url),
    remoteAddress: request.address,
    requestHeaders: JSON.stringify(mask.headers(request.message.headersDistinct)),
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
  if (outcome.kind === "refused") return `${outcome.code}: ${outcome.detail ?? outcome.message}`;
  return null;
}

/** Handles a request that was admitted and whose body has arrived; it sees to the response itself. */
export type RouteHandler = (request: RequestContext) => void | Promise<void>;

/** What a callback's route needs of the pipeline's caller: to log a success with its event, and to respond. */
interface CallbackEnd {
  readonly buildLogEntry: BuildLogEntry;
  readonly endItem: (result: CallbackResult) => void;
  readonly end: (result: CallbackResult) => void;
}

export function createRouteHandler(
  { metrics, isEndpointCheck, receiver, onItem }: PublicDependencies,
  responder: Responder,
  source: NonNullable<RespondOptions["source"]>,
  run: (request: RequestContext, end: CallbackEnd) => void,
  render?: Render,
): RouteHandler {
  const known = render === undefined ? { source } : { source, render };
  return (request) => {
    metrics.inFlight.inc();
    let response: CallbackResponse | undefined;
    run(request, {
      buildLogEntry(success) {
        response = responder.responseFor(request, success, known);
        return responder.buildLogEntry(request, success, response, source.name);
      },
      endItem(result) {
        onItem(result, source.name);
        responder.logItem(request, result, known);
      },
      end(result) {
        metrics.inFlight.dec();
        // Its bytes no longer count as unverified, whatever came of it.
        request.bodyReservation?.release();
        const shown = endpointCheckResult(request, result, isEndpointCheck) ?? result;
        try {
          responder.respond(request, shown, known, result.logEntry === undefined ? undefined : response);
        } catch (err) {
          // The store or a promise calls this: nothing above it would end the request.
          receiver.log.error({ err }, "a response could not be sent, and its connection was closed");
          request.response.destroy();
        }
      },
    });
  };
}

/** How a request without any credential is refused. */
const UNSIGNED: ReadonlySet<string> = new Set(["signature_missing", "token_missing", "state_unknown"]);
const EMPTY_EVENT = Buffer.from("{}");

/** Only what carries nothing is taken for a check, so that a proof that was seen on the way hides no callback. */
function endpointCheckResult(
  { message, body }: RequestContext,
  { outcome }: CallbackResult,
  isEndpointCheck: IsEndpointCheck,
): CallbackResult | undefined {
  // biome-ignore lint/plugin: an empty event is no secret.
  if (outcome.kind !== "refused" || !UNSIGNED.has(outcome.code) || !EMPTY_EVENT.equals(body))
    return undefined;
  if (!isEndpointCheck(message.headersDistinct)) return undefined;
  return { outcome: refused("endpoint_check", { message: outcome.message }) };
}
