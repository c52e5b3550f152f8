import { isRefused, type Refused, refused } from "../domain/index.ts";
import { parseObject } from "../sources/index.ts";

export type RedirectParameters = ReadonlyMap<string, string>;

export const KNOWN: ReadonlySet<string> = new Set(["code", "state", "iss", "error", "error_description"]);

/**
 * RFC 6749 §3.1: unknown parameters are ignored, a known one may not stand twice. They come in the query, a form
 * (`response_mode=form_post`) or a JSON object.
 */
export function parametersOf(query: string, body: Uint8Array): RedirectParameters | Refused {
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

const MAX_QUOTED_LENGTH = 200;

export function codeOf(parameters: RedirectParameters): string | Refused {
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

const MAX_BESIDE = 16;
const MAX_BESIDE_BYTES = 4_096;
const BESIDE = /^(?!__proto__$)[\w.[\]:-]{1,128}$/;
/** Tokens come from the token endpoint only. */
const TOKENS: ReadonlySet<string> = new Set(["access_token", "id_token", "refresh_token"]);

/** The platform's parameters beside the code, such as Intuit's `realmId` and Apple's `user`; the first of each name. */
export function parametersBeside(query: string, body: Uint8Array): Record<string, string> {
  const beside = new Map<string, string>();
  const inBody = pairsOf(body);
  let bytes = 0;
  for (const [name, value] of [...new URLSearchParams(query), ...(isRefused(inBody) ? [] : inBody)]) {
    if (KNOWN.has(name) || TOKENS.has(name) || !BESIDE.test(name)) continue;
    if (typeof value !== "string" || beside.has(name)) continue;
    bytes += name.length + Buffer.byteLength(value);
    if (beside.size === MAX_BESIDE || bytes > MAX_BESIDE_BYTES) break;
    beside.set(name, value.toWellFormed());
  }
  return Object.fromEntries(beside);
}

export function invalid(message: string): Refused {
  return refused("redirect_invalid", { message });
}

/** As long as the head of a request may be. Any client's body is read before anything is authentic. */
const LONGEST_BODY = 16_384;

/** Whether the parameters of a body are left unread, with what to answer a sender that has signed it. */
export function unreadBody(body: Uint8Array): Refused | undefined {
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
