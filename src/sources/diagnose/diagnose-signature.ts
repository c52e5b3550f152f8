import { createHmac, timingSafeEqual } from "node:crypto";
import { type Diagnosis, diagnosisOf, type Finding, parseJson } from "../../domain/index.ts";
import type { DistinctHeaders, SignedBody } from "../schemes/scheme.ts";
import { WHSEC } from "../schemes/secret-keys.ts";
import { type ClaimedDigest, offeredSignature } from "./offered-signature.ts";

/** A secret that is used for diagnoses alone, and never accepted. */
export interface NamedSecret {
  /** Such as `test`; one that begins with `previous` is a former secret of this environment. */
  readonly name: string;
  readonly secret: string;
}

export interface KnownSecrets {
  /** Those that are accepted, the current one first. */
  readonly accepted: readonly string[];
  readonly named: readonly NamedSecret[];
}

export type Bytes = string | Uint8Array;

/** How the signature may have been made: an HMAC with `key` over `parts`. */
interface Candidate {
  readonly key: Bytes;
  readonly parts: readonly Bytes[];
  readonly findings: readonly Finding[];
}

/** Longer bodies are tried with the secrets as they are, and with nothing else. */
export const MAX_VARIED_BYTES = 65_536;
export const TIMESTAMPS = [
  "x-timestamp",
  "webhook-timestamp",
  "svix-timestamp",
  "x-slack-request-timestamp",
  "x-zm-request-timestamp",
] as const;
const IDS = ["webhook-id", "svix-id"] as const;
const MAX_PART_LENGTH = 64;
const HEX = /^(?:[0-9A-Fa-f]{2})+$/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const MIN_KEY_BYTES = 8;

/**
 * Why a signature did not verify: compares it with what platforms and proxies are known to do. Compares in constant time and
 * returns no digest.
 */
export function diagnoseSignature(request: SignedBody, secrets: KnownSecrets): Diagnosis {
  const { claims, findings } = offeredSignature(request.headers);
  const [first] = claims;
  if (first === undefined) return diagnosisOf(findings);
  for (const candidate of candidatesFor(request, secrets, claims)) {
    const right = digestOf(candidate);
    const claim = claims.find(({ digest }) => timingSafeEqual(right, digest));
    if (claim !== undefined)
      return diagnosisOf(confirmedFindings([...findings, ...claim.findings], candidate.findings), true);
  }
  return diagnosisOf([...findings, ...first.findings, guessFrom(request.body)]);
}

export function digestOf({ key, parts }: Pick<Candidate, "key" | "parts">): Uint8Array {
  const hmac = createHmac("sha256", key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

/** What a digest that fits shows: of its form, which is all that is wrong with it where nothing else is. */
export function confirmedFindings(
  format: readonly Finding[],
  signed: readonly Finding[],
): readonly Finding[] {
  const last = format.at(-1);
  if (signed.length > 0 || last === undefined) return [...format, ...signed];
  return format.with(-1, { ...last, message: `${last.message} The digest itself is correct.` });
}

/** What the body alone shows, where no digest matches. */
export function guessFrom(body: Uint8Array): Finding {
  if (body.length === 0) return { code: "truncated", message: "The body is empty." };
  if (isCutOff(body))
    return { code: "truncated", message: `The body ends inside its JSON, after ${body.length} bytes.` };
  return {
    code: "unknown",
    message: "The signature matches none of the known secrets, with none of the changes that were tried.",
  };
}

/** Everything that is tried, the likeliest first: some 40 HMACs, and 76 at most with 2 and 16 secrets. */
export function* candidatesFor(
  request: SignedBody,
  { accepted, named }: KnownSecrets,
  claims: readonly ClaimedDigest[],
): Generator<Candidate> {
  const { body } = request;
  for (const key of accepted) yield { key, parts: [body], findings: [] };
  for (const { name, secret } of named) yield { key: secret, parts: [body], findings: [anotherSecret(name)] };
  if (body.length > MAX_VARIED_BYTES) return;
  for (const { key, finding } of accepted.flatMap(formatsOfVariable))
    yield { key, parts: [body], findings: [finding] };
  yield* withTimestamp(request, accepted, claims);
  for (const { text, how } of rewrittenBodies(body)) {
    const finding: Finding = { code: "body_changed", message: `The signature matches the body ${how}.` };
    for (const key of accepted) yield { key, parts: [text], findings: [finding] };
  }
}

export function anotherSecret(name: string): Finding {
  const message = `The signature was made with the secret \`${name}\` of DIAGNOSE_SECRETS_FILE.`;
  return { code: /^previous/i.test(name) ? "previous_secret" : "other_environment", message };
}

function formatsOfVariable(secret: string, index: number) {
  return secretFormats(secret, index === 0 ? "SIGNING_SECRET" : "SIGNING_SECRET_PREVIOUS");
}

/** The keys that platforms and people make of one secret, besides its UTF-8 bytes. */
export function secretFormats(secret: string, name: string): { key: Bytes; finding: Finding }[] {
  const bare = secret.replace(WHSEC, "");
  const formats: readonly (readonly [key: Bytes, how: string])[] = [
    [`${secret}\n`, "with a line break after it"],
    [`${secret}\r\n`, "with a line break (CRLF) after it"],
    /^["']/.test(secret)
      ? [secret.replace(/^["']|["']$/g, ""), "without its quotes"]
      : [`"${secret}"`, "with quotes around it"],
    WHSEC.test(secret) ? [bare, "without `whsec_`"] : [`whsec_${secret}`, "with `whsec_` before it"],
    [HEX.test(bare) ? Buffer.from(bare, "hex") : "", "decoded from hexadecimal"],
    [BASE64.test(bare) ? Buffer.from(bare, "base64") : "", "decoded from base64"],
  ];
  return formats
    .filter(([key]) => key.length >= MIN_KEY_BYTES)
    .map(([key, how]) => {
      const message = `The signature was made with ${name} ${how}.`;
      return { key, finding: { code: "secret_format", message } };
    });
}

/** The body joined with a timestamp, as other platforms sign it. */
function* withTimestamp(
  { headers, body }: SignedBody,
  accepted: readonly string[],
  claims: readonly ClaimedDigest[],
): Generator<Candidate> {
  const claimed = claims.find((claim) => claim.timestamp !== undefined);
  const timestamp = claimed?.timestamp ?? firstValue(headers, TIMESTAMPS);
  if (timestamp === undefined) return;
  const joined = [
    { parts: [`${timestamp}.`, body], what: "the timestamp, a dot and the body, as Stripe signs" },
    { parts: [`v0:${timestamp}:`, body], what: "`v0:`, timestamp, colon and body, as Slack and Zoom sign" },
    { parts: [`${timestamp}:`, body], what: "the timestamp, a colon and the body, as Paddle signs" },
    { parts: [timestamp, body], what: "the timestamp followed by the body" },
  ];
  for (const { parts, what } of joined)
    for (const key of accepted) yield { key, parts, findings: [covers(what)] };
  const id = firstValue(headers, IDS);
  if (id === undefined) return;
  const parts = [`${id}.${timestamp}.`, body];
  const covered = covers("id, timestamp and body joined by dots, as Standard Webhooks signs");
  for (const key of accepted) yield { key, parts, findings: [covered] };
  // Standard Webhooks decodes its secrets.
  for (const { key, finding } of accepted.flatMap(formatsOfVariable))
    yield { key, parts, findings: [finding, covered] };
}

export function covers(what: string): Finding {
  return { code: "other_content", message: `The signature covers ${what}.` };
}

export function firstValue(headers: DistinctHeaders, names: readonly string[]): string | undefined {
  const values = names.flatMap((name) => headers[name]?.[0] ?? []);
  return values.find(({ length }) => length > 0 && length <= MAX_PART_LENGTH);
}

/** A body that may have been signed, and `how` it differs, in words that follow "The signature matches the body". */
export interface RewrittenBody {
  readonly text: string;
  readonly how: string;
}

const BOM = "\ufeff";
/** An indent costs two characters a level on each line; real payloads have fewer levels. */
const MAX_DEPTH = 16;
const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING: ReadonlySet<number | undefined> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number | undefined> = new Set([0x5d, 0x7d]);

/** What editors, shells, JSON libraries and proxies make of one body; at most 12, none of them the body itself. */
export function rewrittenBodies(body: Uint8Array): RewrittenBody[] {
  const text = Buffer.from(body).toString("utf8");
  const found = new Map([...edges(text), ...layouts(body, text)].toReversed().map((one) => [one.text, one]));
  found.delete(text);
  return [...found.values()].toReversed();
}

function edges(text: string): RewrittenBody[] {
  return [
    text.startsWith(BOM)
      ? { text: text.slice(1), how: "without its byte order mark, which was added on the way" }
      : { text: BOM + text, how: "with a byte order mark, which was removed on the way" },
    { text: `${text}\n`, how: "with a line break at its end, which was removed on the way" },
    { text: `${text}\r\n`, how: "with a line break (CRLF) at its end, which was removed on the way" },
    { text: text.trimEnd(), how: "without the white space at its end, which was added on the way" },
    text.includes("\r\n")
      ? { text: text.replaceAll("\r\n", "\n"), how: "with LF line breaks, which became CRLF on the way" }
      : { text: text.replaceAll("\n", "\r\n"), how: "with CRLF line breaks, which became LF on the way" },
  ];
}

function layouts(body: Uint8Array, text: string): RewrittenBody[] {
  if (nesting(body).deepest > MAX_DEPTH) return [];
  const value = parseJson(text);
  if (value === undefined) return [];
  const compact = JSON.stringify(value);
  const indented = JSON.stringify(value, null, 2);
  // A line break in this text is never inside a string.
  const spaced = indented.replace(/,\n */g, ", ").replace(/\n */g, "");
  return [
    { text: compact, how: "written as JSON without spaces" },
    { text: spaced, how: "written as JSON with a space after each comma and colon, as Python does" },
    { text: ascii(spaced), how: "written as JSON with spaces and \\uXXXX escapes, as Python does" },
    {
      text: ascii(compact).replaceAll("/", "\\/"),
      how: "written as JSON with \\/ and \\uXXXX escapes, as PHP does",
    },
    { text: compact.replaceAll("/", "\\/"), how: "written as JSON with \\/ for each slash, as PHP does" },
    { text: ascii(compact), how: "written as JSON with \\uXXXX escapes" },
    { text: indented, how: "written as JSON with an indent of two spaces" },
  ];
}

function ascii(text: string): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(/[\u0080-\uffff]/g, escaped);
}

/** Whether a body begins as a JSON object or array and ends before that does. */
function isCutOff(body: Uint8Array): boolean {
  return OPENING.has(body[0]) && nesting(body).isOpen;
}

function nesting(body: Uint8Array): { readonly deepest: number; readonly isOpen: boolean } {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) inString = !inString;
    else if (inString && byte === BACKSLASH) at += 1;
    else if (!inString && OPENING.has(byte)) {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (!inString && CLOSING.has(byte)) depth -= 1;
  }
  return { deepest, isOpen: inString || depth > 0 };
}
