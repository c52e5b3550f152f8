import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import {
  type Failed,
  failed,
  isRefused,
  type JsonObject,
  type JsonValue,
  OAUTH,
  PLATFORM,
  type Refused,
  refused,
} from "../domain/index.ts";
import { inSpan } from "../observability/tracing/index.ts";
import {
  type BodyReservation,
  type Callback,
  type CallbackResult,
  type Delivery,
  processDelivery,
} from "../pipeline/index.ts";
import { type DistinctHeaders, isCredentialMissing, sha256Hex } from "../sources/index.ts";
import { type Deadline, StoreError } from "../store/index.ts";
import { type Flow, type FlowDependencies, flowCookies, openFlow } from "./flow.ts";
import { issuerOf, type Platform } from "./platform.ts";
import {
  codeOf,
  invalid,
  KNOWN,
  parametersBeside,
  parametersOf,
  type RedirectParameters,
  unreadBody,
} from "./redirect-parameters.ts";
import { signResult } from "./signed-result.ts";

/** A redirect as it arrived: its parameters stand in the query, a form body or a JSON body. */
export interface Redirect {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  readonly headers: DistinctHeaders;
  readonly body: Uint8Array;
  readonly query: string;
  readonly deadline: Deadline;
  /** Released once its authentication is known, whatever came of it. */
  readonly bodyReservation?: BodyReservation | undefined;
}

/** An authentic redirect is the end of a browser's flow, or a delivery of the platform itself. */
type RedirectAuthentication =
  | { readonly by: "state"; readonly stateSha256: string; readonly flow: Flow | undefined }
  | { readonly by: "platform"; readonly flow?: never };

const EVENT_TYPE = "user_authorized";
/** Its id comes from a state that this receiver has made, or that the platform has registered. */
const CONTRACT = { unhandled: "refuse" } as const;
const REMOVAL_LEASE_MS = 10_000;

/**
 * SPEC 4.3: takes `code` and `state`. The code takes the same once-only path as every callback, as the event
 * `user_authorized`. Its id comes from the state, so a reload finds the first one's record.
 */
export async function processRedirect(
  redirect: Redirect,
  deps: FlowDependencies,
  buildLogEntry: Callback["buildLogEntry"],
): Promise<CallbackResult> {
  const parameters = parametersOf(redirect.query, redirect.body);
  if (isRefused(parameters)) return { outcome: parameters };
  const verifying = deps.receiver.tracer?.startSpan("verify");
  const authentic = await inSpan(verifying, authenticate, redirect, parameters, deps);
  redirect.bodyReservation?.release();
  if ("kind" in authentic) return unstarted(authentic, redirect, parameters, deps);
  const code = codeOf(parameters);
  if (isRefused(code)) {
    // RFC 9700 §4.2.4: the state works once, an error included. A mistake in the address is no use of it.
    if (parameters.has("error")) await consume(authentic, deps);
    return { outcome: code };
  }
  const event = eventOf(code, redirect, parameters, authentic, deps.receiver.clock.now());
  const { deadline } = redirect;
  const { flow } = authentic;
  const landing = (success: CallbackResult) => withLanding(success, redirect, flow, deps);
  const delivery = { ...event, deadline, context: new AsyncResource("oncehook.redirect") };
  const result = await new Promise<CallbackResult>((settle) =>
    processDelivery(
      { ...delivery, buildLogEntry: (success) => buildLogEntry(landing(success)), settle },
      deps.receiver,
    ),
  );
  // A code that the platform refuses is final. So are the flow that brought it and an earlier failure of it.
  if (isRefused(result.outcome)) {
    await consume(authentic, deps);
    await forgetFailure(event, deps);
  }
  return landing(authentic.by === "state" ? asFirstResult(result, flow) : result);
}

/** A browser asks for a page; callers of an API do not. It is sent on, so that no code stays in its address. */
function sentOn(result: CallbackResult, { headers }: Redirect, location: () => string): CallbackResult {
  if (!headers.accept?.some((types) => types.includes("text/html"))) return result;
  return { ...result, response: { status: 303, headers: { location: location() }, body: "" } };
}

/** The page of the end. Only the browser that started the flow brings the application a signed result. */
function withLanding(
  result: CallbackResult,
  redirect: Redirect,
  flow: Flow | undefined,
  { successUrl, successSecret: secret, receiver: { clock } }: FlowDependencies,
): CallbackResult {
  const { outcome, eventId: id } = result;
  if (outcome.kind !== "success") return result;
  return sentOn(result, redirect, () => {
    if (secret === undefined || flow === undefined || id === undefined) return successUrl;
    const { user_id } = outcome.result;
    const userId = typeof user_id === "string" ? user_id : null;
    const signedIn = { id, userId, context: flow.context ?? null };
    const token = signResult(signedIn, { secret, audience: successUrl, now: clock.now() });
    return `${successUrl}${successUrl.includes("?") ? "&" : "?"}sign_in=${token}`;
  });
}

/**
 * A code without a state comes from an installation that began at the platform. Any page can send a browser with one,
 * so the code is not used. The browser starts a flow, which the platform grants at once. A browser that has started one
 * is refused: a platform that drops the state would send it in a circle.
 */
function unstarted(
  outcome: Refused | Failed,
  redirect: Redirect,
  parameters: RedirectParameters,
  { startPath }: FlowDependencies,
): CallbackResult {
  const isInstallation = redirect.method === "GET" && parameters.has("code") && !parameters.get("state");
  if (startPath === undefined || !isInstallation || !isRefused(outcome)) return { outcome };
  if (flowCookies(redirect.headers).length > 0) return { outcome };
  return sentOn({ outcome }, redirect, () => startPath);
}

/**
 * A reloaded page or a second tab gets the first result. A flow that was not started here is bound to no browser. Its
 * result is repeated only for the same code.
 */
function asFirstResult(result: CallbackResult, flow: Flow | undefined): CallbackResult {
  const { outcome } = result;
  if (outcome.kind !== "already_processed" || outcome.result === null) return result;
  if (flow === undefined && !outcome.isSameBody) return { ...result, outcome: refused("state_unknown") };
  return { ...result, outcome: { kind: "success", result: outcome.result, isRepeated: true } };
}

/** An expected state first; without one, the platform itself must have sent it (SPEC 5.1). */
async function authenticate(
  redirect: Redirect,
  parameters: RedirectParameters,
  deps: FlowDependencies,
): Promise<RedirectAuthentication | Refused | Failed> {
  const stateSha256 = sha256Hex(parameters.get("state") ?? "");
  const verification = redirect.method === "POST" ? await deps.source.scheme.verify(redirect) : undefined;
  if (verification !== undefined && "verified" in verification) {
    deps.receiver.observer.credentialsUsed(PLATFORM, verification.verified);
    const unread = unreadBody(redirect.body);
    if (unread !== undefined) return unread;
    // A signature covers only the body: any client could have added the query.
    const added = [...new URLSearchParams(redirect.query).keys()].find((name) => KNOWN.has(name));
    return added === undefined
      ? { by: "platform" }
      : invalid(`${added}: must stand in the signed body, not in the query`);
  }
  if (verification !== undefined && !isCredentialMissing(verification)) return verification;
  try {
    const flow = await expectedFlow(parameters, stateSha256, redirect, deps);
    return flow !== undefined && "kind" in flow ? flow : { by: "state", stateSha256, flow };
  } catch (error) {
    return failed(error instanceof StoreError ? "store_unavailable" : "internal", error);
  }
}

async function consume(authentic: RedirectAuthentication, { receiver: { store, clock }, sparing }: FlowDependencies) {
  if (authentic.by !== "state") return;
  const { stateSha256, flow } = authentic;
  const { redirectStates } = store;
  try {
    if (flow === undefined) await redirectStates.consume(stateSha256);
    else await redirectStates.spend(stateSha256, flow.endsAt, clock.now());
  } catch (error) {
    const message = "a used OAuth state could not be marked as spent; it expires";
    sparing("warn", { fields: { err: error }, message });
  }
}

/** A failure of another code is kept: any client may have sent a made-up code. */
async function forgetFailure(
  { key, content }: Pick<Delivery, "key" | "content">,
  { receiver, sparing }: FlowDependencies,
): Promise<void> {
  const { store, clock } = receiver;
  const now = clock.now();
  const until = new Date(now.getTime() + REMOVAL_LEASE_MS);
  const lease = { owner: randomUUID(), now, until, kind: "removal" } as const;
  try {
    const failure = await store.failureLeases.leaseOne(key, lease);
    if (typeof failure === "string") return;
    if (failure.bodySha256 === content.bodySha256) await store.failures.remove(key);
    else await store.failureLeases.release(key, lease.owner);
  } catch (error) {
    const message = "the failure of a refused code could not be removed";
    sparing("warn", { fields: { err: error, event_id: key.eventId }, message });
  }
}

function eventOf(
  code: string,
  { query, body: sent }: Redirect,
  known: RedirectParameters,
  authentic: RedirectAuthentication,
  now: Date,
) {
  const eventId = `state:${sha256Hex(known.get("state") ?? "")}`;
  const { flow } = authentic;
  // A signature covers the body only.
  const parameters = parametersBeside(authentic.by === "platform" ? "" : query, sent);
  const data: Record<string, JsonValue> = { code, parameters };
  if (flow !== undefined) {
    const { codeVerifier: code_verifier, nonce, redirectUri: redirect_uri, context } = flow;
    data.flow = { code_verifier, nonce, redirect_uri };
    if (context !== undefined) data.context = context;
  }
  const timestamp = Math.floor(now.getTime() / 1000);
  const json: JsonObject = { event_id: eventId, event_type: EVENT_TYPE, timestamp, data };
  const body = Buffer.from(JSON.stringify(json));
  const bodySha256 = sha256Hex(code);
  return {
    key: { source: OAUTH, eventId },
    content: { eventId, typeOf: () => EVENT_TYPE, json, body, bodySha256 },
    contract: CONTRACT,
    answer: "inline" as const,
    version: "v1" as const,
  };
}

/**
 * The flow of a state: one that was started here, in this browser. Undefined for one that the platform started and that
 * was registered. A state that was not made here, or for another browser, changes nothing.
 */
async function expectedFlow(
  parameters: RedirectParameters,
  stateSha256: string,
  { headers, deadline }: Redirect,
  { receiver, platform, redirectUri }: FlowDependencies,
): Promise<Flow | undefined | Refused | Failed> {
  const { store, clock, encryptor } = receiver;
  const now = clock.now();
  const state = parameters.get("state") ?? "";
  const iss = parameters.get("iss");
  const flow = openFlow(state, redirectUri, headers.cookie, { now, encryptor });
  if (flow === "of another browser") return refused("state_of_another_browser");
  if (flow === "unknown") {
    const isExpected = state !== "" && (await store.redirectStates.isRegistered(stateSha256, now, deadline));
    if (!isExpected) return refused("state_unknown");
    // A flow that the platform starts may come without an issuer, but not with another's.
    return iss === undefined ? undefined : issuerFault(iss, platform());
  }
  if (await store.redirectStates.isSpent(stateSha256, deadline)) return refused("state_unknown");
  return (await issuerFault(iss, platform())) ?? flow;
}

/** RFC 9207 §2.4: compared as it is, also on errors, and required where the platform says that it sends it. */
async function issuerFault(iss: string | undefined, platform: Platform) {
  if (platform.settings.issuer === null) return undefined;
  try {
    const server = await platform.server();
    if (iss === undefined) {
      const isPromised = server.authorization_response_iss_parameter_supported === true;
      return isPromised ? refused("issuer_mismatch", { detail: "iss: missing" }) : undefined;
    }
    return iss === issuerOf(server, iss) ? undefined : refused("issuer_mismatch");
  } catch (error) {
    return failed("platform_unavailable", error);
  }
}
