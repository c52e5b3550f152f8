import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { parse, stringify } from "node:querystring";
import { isRefused, type JsonObject, type Refused } from "../../../domain/index.ts";
import { decodeExactly } from "../../formats/encoding.ts";
import { isForm, parseForm } from "../../formats/form.ts";
import { distinctHeaders, type SignedRequest } from "../../request.ts";
import { compileClaims } from "../../schemes/claimed-signatures.ts";
import type { HmacData } from "../../schemes/hmac-data.ts";
import { createDigester } from "../../schemes/keyed-digest.ts";
import { malformed, refuse, type Scheme } from "../../schemes/scheme.ts";
import { keysOf } from "../../schemes/secret-keys.ts";
import type { HmacRequest } from "../../schemes/sign-hmac.ts";

export interface TwilioOptions {
  /** The account's auth tokens, the current one first. */
  readonly authTokens: readonly string[];
  /** Protocol and host that Twilio has registered, without a path. */
  readonly origin: () => string;
}

const HEADER = "X-Twilio-Signature";
const DATA: HmacData = { algorithm: "sha1", signature: { header: HEADER, encoding: "base64" }, signed: "" };
const FORM = "application/x-www-form-urlencoded";
const SENT = /^[\x21-\x7e]*$/;
const SHA256_BYTES = 32;

/**
 * Twilio: HMAC-SHA1 in base64 over the address and the form's fields, sorted, names and values in a row without
 * separators. Only the address is signed where its `bodySHA256` is the hash of the body. Source: twilio-node
 * `src/webhooks/webhooks.ts`, with all its spellings of the address. The form is parsed before it is verified, bounded
 * as any.
 * @throws TypeError for an auth token that cannot be used
 */
export function createTwilioScheme({ authTokens, origin }: TwilioOptions): Scheme {
  const digesters = keysOf(authTokens).map((key) => createDigester("sha1", key));
  const readClaims = compileClaims(DATA);
  return {
    challenge: `Signature realm="callbacks", algorithm="hmac-sha1", header="${HEADER}"`,
    verify(request) {
      const claims = readClaims(request.headers);
      if (isRefused(claims)) return claims;
      if (!SENT.test(request.target)) return malformed("the request's target has a character that cannot be sent");
      const fields = signedFields(request);
      if (typeof fields !== "string") return fields;
      const contents = spellings(origin() + request.target).map((one) => Buffer.from(one + fields));
      const [claimed = Buffer.of()] = claims.digests;
      for (const [index, digest] of digesters.entries()) {
        const matches = contents.map((content) => timingSafeEqual(digest(content), claimed));
        const signed = contents[matches.indexOf(true)];
        // The signature fits other forms and other spellings of the address. All of them share the text it was made of.
        if (signed !== undefined) return { verified: [{ method: "hmac", index }], signedText: () => signed.toString() };
      }
      const detail = `\`${HEADER}\`: made with another auth token, for another address, or over another form`;
      return refuse("signature_mismatch", detail);
    },
  };
}

/** The header with which Twilio would sign a form. @throws TypeError for a body that it would not send */
export function signTwilio({
  secret,
  origin = "",
  target = "/",
  headers = {},
  body,
}: HmacRequest): Record<string, string> {
  const fields = signedFields({ method: "POST", target, headers: distinctHeaders(headers), body });
  if (typeof fields !== "string") throw new TypeError(fields.detail);
  return {
    [HEADER]: createHmac("sha1", secret)
      .update(origin + target + fields)
      .digest("base64"),
  };
}

/** The part after the address in the signed text. */
function signedFields(request: SignedRequest): string | Refused {
  const { target, body, headers } = request;
  const start = target.indexOf("?");
  const hash = start === -1 ? null : new URLSearchParams(target.slice(start + 1)).get("bodySHA256");
  if (hash !== null)
    return isHashOf(body, hash) ? "" : refuse("signature_mismatch", "`bodySHA256`: is of another body");
  if (body.length === 0) return "";
  // Read as another format than it was signed in, the same bytes would be another event.
  const [type = ""] = (headers["content-type"]?.[0] ?? "").split(";", 1);
  if (type.trim().toLowerCase() !== FORM || !isForm(body))
    return malformed(`\`Content-Type\`: expected ${FORM}, or bodySHA256 in the address`);
  const form = parseForm(body);
  return isRefused(form) ? malformed(`the form: ${form.code}`) : inARow(form.value);
}

function isHashOf(body: Uint8Array, hash: string): boolean {
  const claimed = decodeExactly(hash, "hex");
  if (claimed?.length !== SHA256_BYTES) return false;
  return timingSafeEqual(createHash("sha256").update(body).digest(), claimed);
}

/** Names sorted; the values of a repeated name sorted too, each once. */
function inARow(form: JsonObject): string {
  const names = Object.keys(form).sort();
  return names
    .flatMap((name) => [...new Set([form[name]].flat())].sort().map((value) => `${name}${String(value)}`))
    .join("");
}

/** Twilio signs the address as it was registered, which may name the port; older back ends signed it escaped. */
function spellings(url: string): string[] {
  const normalized = URL.parse(url)?.href ?? url;
  const asSent = [withoutPort(url), withPort(url)];
  const escaped = [withoutPort(normalized), withPort(normalized)];
  return [...new Set([...asSent, ...escaped, ...escaped.map(withLegacyQuery)])];
}

function withoutPort(url: string): string {
  const [before, port, after] = aroundPort(url);
  return port === "" ? url : before + after;
}

function withPort(url: string): string {
  const [before, port, after] = aroundPort(url);
  if (port !== "") return url;
  return `${before}${url.startsWith("https:") ? ":443" : ":80"}${after}`;
}

/** An address in three parts: before its port, the port with its colon, and after it. */
function aroundPort(url: string): [before: string, port: string, after: string] {
  const start = url.indexOf("://") + "://".length;
  const length = url.slice(start).search(/[/?]/);
  const end = length === -1 ? url.length : start + length;
  const host = url.slice(start, end);
  // An address of IPv6 has colons inside its brackets.
  const colon = host.indexOf(":", host.lastIndexOf("]") + 1);
  const at = colon === -1 ? end : start + colon;
  return [url.slice(0, at), url.slice(at, end), url.slice(end)];
}

function withLegacyQuery(url: string): string {
  const start = url.indexOf("?");
  if (start === -1 || start === url.length - 1) return url;
  return `${url.slice(0, start)}?${stringify(parse(url.slice(start + 1)))}`;
}
