import { isJsonObject, type JsonObject, type JsonValue } from "./event.ts";

/** Replaces the usual response to a platform: Slack shows it as a message, or closes a dialog by it. */
export interface HandlerResponse {
  /** From 200 to 299: the event is recorded. Default 200. */
  readonly status?: number;
  /** At most 32, of visible ASCII; those that frame the message are not among them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** An object or array is sent as JSON, a text as text/plain unless `content-type` says otherwise. Default: empty. */
  readonly body?: string | JsonObject | JsonValue[];
}

/** The field of a handler's result that holds the response; no platform's data has such a name by chance. */
const PLACE = "oncehook:response";
const MAX_CHARACTERS = 65_536;
const MAX_HEADERS = 32;
const NAME = /^[\w!#$%&'*+.^`|~-]{1,64}$/;
const VALUE = /^[\x20-\x7e]{0,1024}$/;
const FRAMING = /^(?:connection|content-length|keep-alive|set-cookie|trailer|transfer-encoding|upgrade)$/i;

/**
 * A handler's result that is also the response to its callback, in a source other than `platform`. The record keeps it, so
 * that a duplicate gets the same. A callback that was answered before its handler committed, or carried several events,
 * does not get it.
 * @throws TypeError for a response that cannot be sent or is longer than 65,536 characters
 */
export function respond(response: HandlerResponse): JsonObject {
  const fault = faultOf(response);
  if (fault !== undefined) throw new TypeError(`respond: ${fault}`);
  return { [PLACE]: { ...response } as JsonObject };
}

/** The response that a result holds, its headers' names in lower case; undefined for any other result. */
export function responseIn(result: JsonObject): HandlerResponse | undefined {
  const response = result[PLACE] as HandlerResponse | undefined;
  if (!isJsonObject(response) || faultOf(response) !== undefined) return undefined;
  const named = Object.entries(response.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...response, headers: Object.fromEntries(named) };
}

function faultOf({ status = 200, headers = {}, body = "" }: HandlerResponse): string | undefined {
  if (!Number.isInteger(status) || status < 200 || status > 299)
    return `\`status\`: got ${status}, expected 200 to 299, since the event is recorded`;
  if (!isJsonObject(headers)) return "`headers`: expected an object";
  const named = Object.entries(headers);
  const wrong = named.find(([name, value]) => !NAME.test(name) || FRAMING.test(name) || !VALUE.test(value));
  if (wrong !== undefined) return `\`headers\`: got ${JSON.stringify(wrong[0])}, which cannot be sent`;
  if (named.length > MAX_HEADERS) return `\`headers\`: got ${named.length}, expected at most ${MAX_HEADERS}`;
  if (typeof body !== "string" && (typeof body !== "object" || body === null))
    return `\`body\`: got a ${typeof body}, expected a text, an object or an array`;
  const { length } = JSON.stringify(body);
  return length > MAX_CHARACTERS ? `\`body\`: got ${length} characters, expected at most 65,536` : undefined;
}
