import type { CallbackLogEntry, Outcome } from "../domain/index.ts";
import { refused } from "../domain/index.ts";
import type { DroppedCallback, Mask } from "../observability/index.ts";
import type { RequestResult } from "../observability/tracing/index.ts";
import type { BuildLogEntry, CallbackResult } from "../pipeline/index.ts";
import { errorText } from "../pipeline/index.ts";
import type { IsEndpointCheck, PublicDependencies } from "./public-dependencies.ts";
import type { RequestContext } from "./request-context.ts";
import { type CallbackResponse, respondInTurn, responseTo, sendResponse } from "./response.ts";

/** Phases (g) and (h) of SPEC 1.7: log, and answer. Every request on the public listener ends here. */
export interface Responder {
  responseFor(request: RequestContext, result: CallbackResult, known?: RespondOptions): CallbackResponse;
  buildLogEntry(
    request: RequestContext,
    result: CallbackResult,
    answer: CallbackResponse,
    known: RespondOptions,
  ): CallbackLogEntry;
  /** @param answer where it was made already, for the log row that committed with the event */
  respond(
    request: RequestContext,
    result: CallbackResult,
    known?: RespondOptions,
    answer?: CallbackResponse,
  ): void;
}

/** Turns the answer into the one that this caller understands. */
export type Render = (
  request: RequestContext,
  outcome: Outcome,
  answer: CallbackResponse,
) => CallbackResponse;

interface RespondOptions {
  readonly source?: string;
  readonly render?: Render;
}

export function createResponder(deps: PublicDependencies): Responder {
  const { mask, callbackLog, diagnoser, onAnswered } = deps;
  const { challenge } = deps.source.scheme;

  function responseFor(
    request: RequestContext,
    { outcome }: CallbackResult,
    known: RespondOptions | undefined,
  ): CallbackResponse {
    const answer = responseTo(outcome, challenge);
    return known?.render?.(request, outcome, answer) ?? answer;
  }

  function buildLogEntry(
    request: RequestContext,
    result: CallbackResult,
    answer: CallbackResponse,
    known: RespondOptions,
  ): CallbackLogEntry {
    const processingMs = performance.now() - request.startedAt;
    return logEntryOf(request, { source: known.source ?? null, result, answer, processingMs }, mask);
  }

  /** After the answer: what is refused, or fails, costs its caller no waiting. */
  function writeLog(
    request: RequestContext,
    result: CallbackResult,
    answer: CallbackResponse,
    known: RespondOptions | undefined,
  ): void {
    const { outcome, eventId, bodyJson, logEntry } = result;
    const processingMs = performance.now() - request.startedAt;
    const options = { trace: request.span?.ids, isJson: bodyJson !== undefined };
    if (outcome.kind === "success" && outcome.isRepeated !== true && logEntry !== undefined) {
      // It is in the store already.
      callbackLog.writeLine(logEntry, { ...options, processingMs });
      return;
    }
    const ended = { source: known?.source ?? null, result, answer, processingMs };
    if (outcome.kind === "success" || eventId !== undefined) {
      const row = logEntryOf(request, ended, mask);
      callbackLog.writeLine(row, options);
      callbackLog.addEntry(row);
      return;
    }
    // A flood of refused requests is cheap: past the bound nothing is masked, parsed or written.
    const refused = droppedCallback(request, outcome);
    if (!callbackLog.admitRejected(refused)) return;
    callbackLog.addRefused({
      ...refused,
      body: request.body,
      trace: options.trace,
      diagnosis: diagnoser.start(request, outcome),
      entry: (sha256) => logEntryOf(request, { ...ended, sha256 }, mask),
    });
  }

  function droppedCallback({ address, url }: RequestContext, outcome: Outcome): DroppedCallback {
    const name = "code" in outcome ? outcome.code : outcome.kind;
    return { outcome: name, remoteAddress: address, url: () => mask.url(url) };
  }

  return {
    responseFor,
    buildLogEntry,
    respond(request, result, known, answer = responseFor(request, result, known)) {
      if (isAuthentic(result)) sendResponse(request, answer);
      else respondInTurn(request, answer);
      if (request.isCallback) {
        onAnswered(result, answer.status, performance.now() - request.startedAt, known?.source);
        writeLog(request, result, answer, known);
      } else callbackLog.drop("unknown_address", droppedCallback(request, result.outcome));
      request.span?.end(requestResult(result, answer.status, known?.source));
    },
  };
}

/** Without an event id a request was refused before it was known to be authentic, or says nothing. */
function isAuthentic({ outcome, eventId }: CallbackResult): boolean {
  return eventId !== undefined || outcome.kind === "success";
}

function requestResult(
  { outcome, eventId, eventType }: CallbackResult,
  status: number,
  source: string | undefined,
): RequestResult {
  return { status, outcome, source, eventId, eventType };
}

/** What a row is made of, beside the request. */
interface LogEntryInput {
  readonly source: string | null;
  readonly result: CallbackResult;
  readonly answer: CallbackResponse;
  /** From its arrival to its answer. */
  readonly processingMs: number;
  /** Of a long body that was hashed already. */
  readonly sha256?: string | undefined;
}

/** The log row of one callback (SPEC 1.8), masked before it goes anywhere. */
function logEntryOf(request: RequestContext, ended: LogEntryInput, mask: Mask): CallbackLogEntry {
  const { source, result, answer, processingMs, sha256 } = ended;
  const { outcome, eventId = null, eventType = null, bodyJson } = result;
  const error = errorOf(outcome);
  const isJson = bodyJson !== undefined;
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
    requestBody: mask.body(request.body, sha256 === undefined ? { isJson } : { isJson, sha256 }),
    outcome: "code" in outcome ? outcome.code : outcome.kind,
    responseStatus: answer.status,
    responseBody: mask.body(Buffer.from(answer.body), { isJson: answer.value !== undefined }),
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
  readonly end: (result: CallbackResult) => void;
}

/** Counts the request in flight until its response. */
export function createRouteHandler(
  { metrics, isEndpointCheck }: PublicDependencies,
  responder: Responder,
  source: string,
  run: (request: RequestContext, end: CallbackEnd) => void,
  render?: Render,
): RouteHandler {
  const known = render === undefined ? { source } : { source, render };
  return (request) => {
    metrics.inFlight.inc();
    let answer: CallbackResponse | undefined;
    run(request, {
      buildLogEntry(success) {
        answer = responder.responseFor(request, success, known);
        return responder.buildLogEntry(request, success, answer, known);
      },
      end(result) {
        metrics.inFlight.dec();
        // Its bytes no longer count as unverified, whatever came of it.
        request.held?.release();
        const shown = endpointCheckResult(request, result, isEndpointCheck) ?? result;
        responder.respond(request, shown, known, result.logEntry === undefined ? undefined : answer);
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
