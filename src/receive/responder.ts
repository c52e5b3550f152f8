import { type Outcome, PLATFORM, refused, responseIn, responseOutcome } from "../domain/index.ts";
import type { Callback, CallbackResult, Source } from "../pipeline/index.ts";
import { fixedResponse, isTenantUnknown } from "../sources/index.ts";
import type { ReceiveDependencies } from "./dependencies.ts";
import type { RequestContext } from "./request-context.ts";
import { createRequestLog, isAuthentic, logEntryOf } from "./request-log.ts";
import { type CallbackResponse, respondThrottled, responseTo, sendResponse } from "./responses.ts";

export type Render = (request: RequestContext, outcome: Outcome, response: CallbackResponse) => CallbackResponse;

/** The source of an address; that of OAuth redirects is only a name. */
export type KnownSource = Pick<Source, "name"> & Partial<Source>;

interface RespondOptions {
  readonly source?: KnownSource | undefined;
  readonly render?: Render | undefined;
}

/** Steps (g) and (h) of SPEC 1.7: log, and respond. Every request on the public listener ends here. */
export type Responder = ReturnType<typeof createResponder>;

export interface ResponderDependencies extends ReceiveDependencies {
  readonly responder: Responder;
}

export function createResponder(deps: ReceiveDependencies) {
  const { callbackLog, onResponse } = deps;
  const log = createRequestLog(deps);
  const { challenge } = deps.source.scheme;

  function responseFor(request: RequestContext, result: CallbackResult, options: RespondOptions | undefined) {
    const outcome = responseOutcome(result.outcome);
    const { scheme, contract } = options?.source ?? {};
    const wanted = result.response ?? responseOfHandler(result, options) ?? contract?.respond?.(outcome);
    const response = responseTo(outcome, scheme?.challenge ?? challenge);
    if (wanted !== undefined) return { ...wanted, headers: { ...response.headers, ...wanted.headers } };
    return options?.render?.(request, outcome, response) ?? response;
  }

  return {
    responseFor,
    /** An event of a batch, or one of several handlers: the callback itself gets one response, and another log entry. */
    logItem(request: RequestContext, result: CallbackResult, options: RespondOptions): void {
      if (result.outcome.kind === "already_processed") return;
      const source = result.keySource ?? options.source?.name;
      log.write(request, result, responseFor(request, result, options), source);
    },
    /** @param response where it was made already, for the log entry that committed with the event */
    respond(
      request: RequestContext,
      result: CallbackResult,
      options?: RespondOptions,
      response: CallbackResponse = responseFor(request, result, options),
    ): void {
      if (isAuthentic(result)) sendResponse(request, response);
      else respondThrottled(request, response);
      const { outcome, eventId, eventType } = result;
      const { status } = response;
      const source = options?.source?.name;
      if (request.isCallback) {
        onResponse(result, status, performance.now() - request.startedAt, source);
        log.write(request, result, response, result.keySource ?? source);
      } else callbackLog.drop("unknown_address", log.dropped(request, outcome));
      request.span?.end({ status, outcome, source, eventId, eventType });
    },
  };
}

/** SPEC 2.5 has the responses to the specification's platform. A batch has one response for all its events. */
function responseOfHandler({ outcome, eventId, isCombined }: CallbackResult, options: RespondOptions | undefined) {
  const { name = PLATFORM, contract } = options?.source ?? {};
  if (name === PLATFORM || contract === undefined || !("result" in outcome) || outcome.result === null) return;
  const response = eventId !== undefined || isCombined ? responseIn(outcome.result) : undefined;
  return response === undefined ? undefined : fixedResponse(response);
}

/** Handles a request that was admitted and whose body has arrived; it sees to the response itself. */
export type RouteHandler = (request: RequestContext) => void | Promise<void>;

/** @param run gets a route's way back from the pipeline: the log entry that commits with a success, and the response */
export function createRouteHandler(
  { maskFor, metrics, isEndpointCheck, receiver, onItem, responder }: ResponderDependencies,
  source: KnownSource,
  run: (request: RequestContext, settlement: Pick<Callback, "buildLogEntry" | "settleItem" | "settle">) => void,
  render?: Render,
): RouteHandler {
  const options = { source, render };
  return (request) => {
    metrics.inFlight.inc();
    let response: CallbackResponse | undefined;
    run(request, {
      buildLogEntry(result) {
        const { keySource = source.name } = result;
        response = responder.responseFor(request, result, options);
        const processingMs = performance.now() - request.startedAt;
        return logEntryOf(request, { source: keySource, result, response, processingMs }, maskFor(keySource));
      },
      settleItem(result) {
        // An event of a batch is one event, however many handlers it has.
        if (result.keySource === undefined) onItem(result, source.name);
        if (result.isCombined !== true) responder.logItem(request, result, options);
      },
      settle(result) {
        metrics.inFlight.dec();
        // Its bytes no longer count as unverified, whatever came of it.
        request.bodyReservation?.release();
        const shown = endpointCheckResult(request, result, isEndpointCheck) ?? result;
        try {
          responder.respond(request, shown, options, result.logEntry === undefined ? undefined : response);
        } catch (err) {
          // The store or a promise calls this: nothing above it would end the request.
          receiver.log.error({ err }, "a response could not be sent, and its connection was closed");
          request.exchange.abort();
        }
      },
    });
  };
}

/** How a request without any credential is refused. */
const UNSIGNED: ReadonlySet<string> = new Set(["signature_missing", "token_missing", "state_unknown"]);
const EMPTY_EVENT = Buffer.from("{}");

/** The header of an endpoint check can be copied. So it counts only on an unsigned `{}`, and hides no other callback. */
function endpointCheckResult(
  { exchange, body }: RequestContext,
  { outcome }: CallbackResult,
  isEndpointCheck: ReceiveDependencies["isEndpointCheck"],
): CallbackResult | undefined {
  // biome-ignore lint/plugin: an empty event is no secret.
  if (outcome.kind !== "refused" || !EMPTY_EVENT.equals(body)) return undefined;
  // No scheme looks for the credential of a tenant that does not exist.
  if (!UNSIGNED.has(outcome.code) && !isTenantUnknown(outcome)) return undefined;
  if (!isEndpointCheck(exchange.distinctHeaders)) return undefined;
  return { outcome: refused("endpoint_check", { message: outcome.message }) };
}
