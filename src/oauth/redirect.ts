import { isRefused, type JsonObject, type Refused, refused } from "../domain/index.ts";
import {
  onceOnly,
  parseObject,
  type Receiver,
  type Reception,
  type RowOf,
  type Source,
  sha256Hex,
} from "../receive/index.ts";
import type { Deadline } from "../store/index.ts";
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
  const parameters = parametersOf(redirect);
  if (isRefused(parameters)) return { outcome: parameters };
  const stranger = await strangerFault(redirect, parameters.get("state"), deps);
  if (stranger !== undefined) return { outcome: stranger };
  const code = codeOf(parameters);
  if (isRefused(code)) return { outcome: code };
  const eventId = `state:${sha256Hex(Buffer.from(parameters.get("state") ?? ""))}`;
  const json: JsonObject = {
    event_id: eventId,
    event_type: EVENT_TYPE,
    timestamp: Math.floor(receiver.clock.now().getTime() / 1000),
    data: { code },
  };
  const delivery = {
    key: { source: SOURCE, eventId },
    json,
    body: Buffer.from(JSON.stringify(json)),
    bodySha256: sha256Hex(Buffer.from(code)),
    version: "v1",
    deadline: redirect.deadline,
    typeOf: () => EVENT_TYPE,
  } as const;
  return onceOnly(delivery, receiver, rowOf);
}

/** The signature first: with one, the bytes speak for themselves; without one, the state must be expected. */
async function strangerFault(
  redirect: Redirect,
  state: string | undefined,
  { receiver, platform }: RedirectDeps,
): Promise<Refused | undefined> {
  if (redirect.headers["x-signature"] !== undefined) {
    const signer = platform.scheme.verify(redirect);
    return isRefused(signer) ? signer : undefined;
  }
  if (state === undefined || state === "") return refused("state_unknown");
  const expected = await receiver.store.redirectStates.isExpected(
    sha256Hex(Buffer.from(state)),
    receiver.clock.now(),
  );
  return expected ? undefined : refused("state_unknown");
}

function codeOf(parameters: ReadonlyMap<string, string>): string | Refused {
  // The platform's own words are not echoed: anybody can write them into an address.
  if (parameters.has("error"))
    return refused("redirect_invalid", { message: "the platform refused the authorization" });
  const code = parameters.get("code");
  if (code === undefined || code === "") return refused("redirect_invalid", { message: "code: missing" });
  return parameters.get("state") ? code : refused("redirect_invalid", { message: "state: missing" });
}

/** RFC 6749 §3.1: unknown parameters are ignored, a known one may not stand twice. */
function parametersOf({ body, query }: Redirect): ReadonlyMap<string, string> | Refused {
  const pairs = [...new URLSearchParams(query)];
  const text = Buffer.from(body).toString("utf8");
  if (text.trimStart().startsWith("{")) {
    const parsed = parseObject(body);
    if (isRefused(parsed)) return parsed;
    for (const [name, value] of Object.entries(parsed.object)) {
      if (typeof value === "string") pairs.push([name, value]);
    }
  } else {
    pairs.push(...new URLSearchParams(text));
  }
  const parameters = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (!["code", "state", "error"].includes(name)) continue;
    if (parameters.has(name))
      return refused("redirect_invalid", { message: `${name}: stands more than once` });
    parameters.set(name, value);
  }
  return parameters;
}
