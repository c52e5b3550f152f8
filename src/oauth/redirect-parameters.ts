import { isRefused, type Refused, refused } from "../domain/index.ts";
import { parseObject } from "../pipeline/index.ts";

export type RedirectParameters = ReadonlyMap<string, string>;

const KNOWN: ReadonlySet<string> = new Set(["code", "state", "iss", "error", "error_description"]);

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
      if (!KNOWN.has(name)) continue;
      if (parameters.has(name)) return invalid(`${name}: stands more than once`);
      parameters.set(name, value);
    }
  }
  return parameters;
}

/** The first known parameter of a query, where there is one. */
export function knownIn(query: string): string | undefined {
  return [...new URLSearchParams(query).keys()].find((name) => KNOWN.has(name));
}

export function invalid(message: string): Refused {
  return refused("redirect_invalid", { message });
}

/** As long as the head of a request may be. A stranger's body is read before anything is authentic. */
const LONGEST_BODY = 16_384;

/** Whether the parameters of a body are left unread, with what to answer a sender that has signed it. */
export function unreadBody(body: Uint8Array): Refused | undefined {
  return body.length > LONGEST_BODY
    ? invalid(`body: ${body.length} bytes; a redirect's body has ${LONGEST_BODY} bytes at most`)
    : undefined;
}

/** None of a longer body: without a signature, its redirect is refused like any other without a state. */
function pairsOf(body: Uint8Array): Iterable<[string, string]> | Refused {
  if (unreadBody(body) !== undefined) return [];
  const text = Buffer.from(body).toString("utf8");
  if (!text.trimStart().startsWith("{")) return new URLSearchParams(text);
  const parsed = parseObject(body);
  if (isRefused(parsed)) return parsed;
  return Object.entries(parsed.object).filter(
    (pair): pair is [string, string] => typeof pair[1] === "string",
  );
}
