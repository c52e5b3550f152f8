import { type Failed, failed, isRefused, type JsonObject, type Refused, refused } from "../domain/index.ts";
import {
  type Delivery,
  onceOnly,
  parseObject,
  type Receiver,
  type Reception,
  type RowOf,
  type Source,
  sha256Hex,
} from "../receive/index.ts";
import { type Deadline, StoreFault } from "../store/index.ts";
import type { DistinctHeaders } from "../verify/index.ts";

/** A redirect as it arrived: `code` and `state` stand in a JSON body, a form body or the query. */
export interface Redirect {
  readonly headers: DistinctHeaders;
  readonly body: Uint8Array;
  readonly query: string;
  readonly deadline: Deadline;
}

export interface RedirectDeps {
  readonly receiver: Receiver;
  /** The platform, whose signature is one of the two ways to authenticate a redirect. */
  readonly platform: Source;
}

const SOURCE = "oauth";
const EVENT_TYPE = "user_authorized";
const KNOWN: ReadonlySet<string> = new Set(["code", "state", "error"]);

/**
 * SPEC 4.3: takes `code` and `state` and runs the code through the same once-only path as every callback, as the
 * event `user_authorized`. Its id comes from the state, so a reload finds the first one's record. Authentic is
 * what the platform signed, or what brings back a state that was registered (RFC 6749 §10.12).
 */
export async function receiveRedirect(
  redirect: Redirect,
  deps: RedirectDeps,
  rowOf: RowOf,
): Promise<Reception> {
  const { receiver } = deps;
  const signed = redirect.headers["x-signature"] !== undefined;
  const verdict = signed ? await deps.platform.scheme.verify(redirect) : undefined;
  if (verdict !== undefined && !("verified" in verdict)) return { outcome: verdict };
  const parameters = parametersOf(redirect, signed);
  if (isRefused(parameters)) return { outcome: parameters };
  const stranger = signed ? undefined : await strangerFault(parameters.get("state"), receiver);
  if (stranger !== undefined) return { outcome: stranger };
  const code = codeOf(parameters);
  if (isRefused(code)) return { outcome: code };
  return onceOnly(deliveryOf(code, parameters.get("state") ?? "", redirect, receiver), receiver, rowOf);
}

/** The event that a redirect stands for; its id comes from the state. */
function deliveryOf(code: string, state: string, { deadline }: Redirect, { clock }: Receiver): Delivery {
  const eventId = `state:${sha256Hex(Buffer.from(state))}`;
  const json: JsonObject = {
    event_id: eventId,
    event_type: EVENT_TYPE,
    timestamp: Math.floor(clock.now().getTime() / 1000),
    data: { code },
  };
  return {
    key: { source: SOURCE, eventId },
    json,
    body: Buffer.from(JSON.stringify(json)),
    bodySha256: sha256Hex(Buffer.from(code)),
    version: "v1",
    deadline,
    typeOf: () => EVENT_TYPE,
  };
}

/** Without a signature the state must be one that somebody here registered. */
async function strangerFault(
  state: string | undefined,
  { store, clock }: Receiver,
): Promise<Refused | Failed | undefined> {
  if (state === undefined || state === "") return refused("state_unknown");
  try {
    const expected = await store.redirectStates.isExpected(sha256Hex(Buffer.from(state)), clock.now());
    return expected ? undefined : refused("state_unknown");
  } catch (error) {
    if (error instanceof StoreFault) return failed("store_unavailable", error);
    throw error;
  }
}

function codeOf(parameters: ReadonlyMap<string, string>): string | Refused {
  // The platform's own words are not echoed: anybody can write them into an address.
  if (parameters.has("error"))
    return refused("redirect_invalid", { message: "the platform refused the authorization" });
  const code = parameters.get("code");
  if (code === undefined || code === "") return refused("redirect_invalid", { message: "code: missing" });
  return parameters.get("state") ? code : refused("redirect_invalid", { message: "state: missing" });
}

/**
 * RFC 6749 §3.1: unknown parameters are ignored, a known one may not stand twice. A signature covers the body alone,
 * so with one the query may hold none of them: anybody could have added it.
 */
function parametersOf({ body, query }: Redirect, signed: boolean): ReadonlyMap<string, string> | Refused {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (!KNOWN.has(name)) continue;
    if (signed) return invalid(`${name}: must stand in the signed body, not in the query`);
    if (parameters.has(name)) return invalid(`${name}: stands more than once`);
    parameters.set(name, value);
  }
  const pairs = pairsOf(body);
  if (isRefused(pairs)) return pairs;
  for (const [name, value] of pairs) {
    if (!KNOWN.has(name)) continue;
    if (parameters.has(name)) return invalid(`${name}: stands more than once`);
    parameters.set(name, value);
  }
  return parameters;
}

function pairsOf(body: Uint8Array): Iterable<[string, string]> | Refused {
  const text = Buffer.from(body).toString("utf8");
  if (!text.trimStart().startsWith("{")) return new URLSearchParams(text);
  const parsed = parseObject(body);
  if (isRefused(parsed)) return parsed;
  return Object.entries(parsed.object).filter(
    (pair): pair is [string, string] => typeof pair[1] === "string",
  );
}

function invalid(message: string): Refused {
  return refused("redirect_invalid", { message });
}
