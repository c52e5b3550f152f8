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
  type BuildLogEntry,
  type CallbackResult,
  type Delivery,
  processDelivery,
} from "../pipeline/index.ts";
import { type DistinctHeaders, isCredentialMissing, parseObject, sha256Hex } from "../sources/index.ts";
import { type Deadline, StoreError } from "../store/index.ts";
import { browserOf, type Flow, type FlowDependencies, openFlow } from "./flow.ts";
import { issuerOf, type Platform } from "./platform.ts";

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

/** What an authentic redirect is: the flow of a browser, or a delivery of the platform's own. */
type RedirectAuthentication =
  | { readonly by: "state"; readonly stateSha256: string; readonly flow: Flow | undefined }
  | { readonly by: "platform" };

const EVENT_TYPE = "user_authorized";
/** Its id comes from a state that this receiver has made, or that the platform has registered. */
const CONTRACT = { unhandled: "refuse" } as const;
const MAX_QUOTED_LENGTH = 200;
const REMOVAL_LEASE_MS = 10_000;

/**
 * SPEC 4.3: takes `code` and `state` and runs the code through the same once-only path as every callback, as the
 * event `user_authorized`. Its id comes from the state, so a reload finds the first one's record.
 */
export async function processRedirect(
  redirect: Redirect,
  deps: FlowDependencies,
  buildLogEntry: BuildLogEntry,
): Promise<CallbackResult> {
  const parameters = parametersOf(redirect.query, redirect.body);
  if (isRefused(parameters)) return { outcome: parameters };
  const verifying = deps.receiver.tracer?.startSpan("verify");
  const authentic = await inSpan(verifying, authenticate, redirect, parameters, deps);
  redirect.bodyReservation?.release();
  if ("kind" in authentic) return { outcome: authentic };
  const code = codeOf(parameters);
  if (isRefused(code)) {
    // RFC 9700 §4.2.4: the state works once, an error included. A mistake in the address is no use of it.
    if (parameters.has("error")) await consume(authentic, deps);
    return { outcome: code };
  }
  const event = eventOf(code, parameters.get("state") ?? "", authentic, deps.receiver.clock.now());
  const { deadline } = redirect;
  const context = new AsyncResource("oncehook.redirect");
  const result = await new Promise<CallbackResult>((end) =>
    processDelivery({ ...event, deadline, context, buildLogEntry, end }, deps.receiver),
  );
  // A code that the platform refuses is final, and so are the flow that brought it and an earlier failure of it.
  if (isRefused(result.outcome)) {
    await consume(authentic, deps);
    await forgetFailure(event, deps);
  }
  return authentic.by === "state" ? asFirstResult(result, authentic.flow) : result;
}

/**
 * A reloaded page or a second tab gets the first result. A flow that was not started here is bound to no browser, so
 * its result is repeated only for the same code.
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
  const stateSha256 = sha256Hex(Buffer.from(parameters.get("state") ?? ""));
  const verdict = redirect.method === "POST" ? await deps.source.scheme.verify(redirect) : undefined;
  if (verdict !== undefined && "verified" in verdict) {
    deps.receiver.observer.credentialsUsed(PLATFORM, verdict.verified);
    const unread = unreadBody(redirect.body);
    if (unread !== undefined) return unread;
    // A signature covers only the body: any client could have added the query.
    const added = [...new URLSearchParams(redirect.query).keys()].find((name) => KNOWN.has(name));
    return added === undefined
      ? { by: "platform" }
      : invalid(`${added}: must stand in the signed body, not in the query`);
  }
  if (verdict !== undefined && !isCredentialMissing(verdict)) return verdict;
  try {
    const flow = await expectedFlow(parameters, stateSha256, redirect, deps);
    return flow !== undefined && "kind" in flow ? flow : { by: "state", stateSha256, flow };
  } catch (error) {
    return failed(error instanceof StoreError ? "store_unavailable" : "internal", error);
  }
}

async function consume(
  authentic: RedirectAuthentication,
  { receiver: { store, clock }, sparing }: FlowDependencies,
): Promise<void> {
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

function eventOf(code: string, state: string, authentic: RedirectAuthentication, now: Date) {
  const eventId = `state:${sha256Hex(Buffer.from(state))}`;
  const flow = authentic.by === "state" ? authentic.flow : undefined;
  const data: Record<string, JsonValue> = { code };
  if (flow !== undefined) {
    const { codeVerifier: code_verifier, nonce, redirectUri: redirect_uri } = flow;
    data.flow = { code_verifier, nonce, redirect_uri };
  }
  const timestamp = Math.floor(now.getTime() / 1000);
  const json: JsonObject = { event_id: eventId, event_type: EVENT_TYPE, timestamp, data };
  const body = Buffer.from(JSON.stringify(json));
  const bodySha256 = sha256Hex(Buffer.from(code));
  return {
    key: { source: OAUTH, eventId },
    content: { eventId, typeOf: () => EVENT_TYPE, json, body, bodySha256 },
    contract: CONTRACT,
    answer: "inline" as const,
    version: "v1" as const,
  };
}

function codeOf(parameters: RedirectParameters): string | Refused {
  const error = parameters.get("error");
  if (error !== undefined) {
    const description = parameters.get("error_description") ?? "";
    // The platform's own words go only to the log: any client can write them into an address.
    return refused("redirect_invalid", {
      message: "the platform refused the authorization",
      detail: `the platform answered ${quoted(error)}: ${quoted(description)}`,
    });
  }
  const code = parameters.get("code");
  if (code === undefined || code === "") return invalid("code: missing");
  return parameters.get("state") ? code : invalid("state: missing");
}

function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed().slice(0, MAX_QUOTED_LENGTH));
}

/**
 * The flow that a state belongs to: one that was started here, in this browser; undefined for one that the platform
 * started and that was registered. A state that was not made here, or for another browser, changes nothing.
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
  const flow = openFlow(state, redirectUri, browserOf(headers), { now, encryptor });
  if (flow === "of another browser") return refused("state_of_another_browser");
  if (flow === "unknown") {
    const isExpected = state !== "" && (await store.redirectStates.isRegistered(stateSha256, now, deadline));
    if (!isExpected) return refused("state_unknown");
    // What the platform starts itself it may leave without an issuer, but not with another's.
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

type RedirectParameters = ReadonlyMap<string, string>;

const KNOWN: ReadonlySet<string> = new Set(["code", "state", "iss", "error", "error_description"]);

/**
 * RFC 6749 §3.1: unknown parameters are ignored, a known one may not stand twice. They come in the query, a form
 * (`response_mode=form_post`) or a JSON object.
 */
function parametersOf(query: string, body: Uint8Array): RedirectParameters | Refused {
  const parameters = new Map<string, string>();
  const inBody = pairsOf(body);
  if (isRefused(inBody)) return inBody;
  for (const pairs of [new URLSearchParams(query), inBody]) {
    for (const [name, value] of pairs) {
      if (!KNOWN.has(name) || typeof value !== "string") continue;
      if (parameters.has(name)) return invalid(`${name}: stands more than once`);
      parameters.set(name, value);
    }
  }
  return parameters;
}

function invalid(message: string): Refused {
  return refused("redirect_invalid", { message });
}

/** As long as the head of a request may be. A stranger's body is read before anything is authentic. */
const LONGEST_BODY = 16_384;

/** Whether the parameters of a body are left unread, with what to answer a sender that has signed it. */
function unreadBody(body: Uint8Array): Refused | undefined {
  return body.length > LONGEST_BODY
    ? invalid(`body: ${body.length} bytes; a redirect's body has ${LONGEST_BODY} bytes at most`)
    : undefined;
}

/** None of a longer body: without a signature, its redirect is refused like any other without a state. */
function pairsOf(body: Uint8Array): Iterable<[string, unknown]> | Refused {
  if (unreadBody(body) !== undefined) return [];
  const text = Buffer.from(body).toString("utf8");
  if (!text.trimStart().startsWith("{")) return new URLSearchParams(text);
  const parsed = parseObject(body);
  return isRefused(parsed) ? parsed : Object.entries(parsed.object);
}
