import type { Finding } from "../../domain/index.ts";
import type { DistinctHeaders } from "../request.ts";
import { compileClaims } from "../schemes/claimed-signatures.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import { DIGEST_BYTES } from "../schemes/keyed-digest.ts";

interface OfferedDigests {
  readonly digests: readonly Uint8Array[];
  /** How they differ from what the platform sends. */
  readonly findings: readonly Finding[];
  /** The same, said only where one of them is right: of another platform's header. */
  readonly ifRight?: readonly Finding[];
  /** A known prefix of other platforms, before a digest without an expected one. */
  readonly prefix?: string | undefined;
  /** As it was sent; undefined where none is there. */
  readonly timestamp?: string | undefined;
}

/** Each is compared with each candidate. */
const MAX_DIGESTS = 4;
const MAX_HEADER_LENGTH = 4_096;
const MAX_TIME_LENGTH = 64;
const SOME_HEX = /[0-9A-Fa-f]{16,}/;
/** Beside a signature, as Stripe and Paddle send it. */
const TIMESTAMP = /(?:^|[,;\s])ts?=(\d{1,17})(?:[,;\s]|$)/;
const TIMESTAMP_HEADERS = [
  "x-timestamp",
  "webhook-timestamp",
  "svix-timestamp",
  "x-slack-request-timestamp",
  "x-zm-request-timestamp",
];
/** The only text of a caller that a diagnosis repeats. */
const KNOWN_PREFIX = /(?:^|[^a-z])((?:hmac-sha256|sha256|h1|v[01])[=:]?)$/i;
/** How many hexadecimal digits an algorithm has. */
const ALGORITHMS: Readonly<Record<number, string>> = {
  32: "HMAC-MD5",
  40: "HMAC-SHA1",
  64: "HMAC-SHA256",
  96: "HMAC-SHA384",
  128: "HMAC-SHA512",
};
const NAMES = { hex: "hexadecimal", base64: "base64" } as const;

/** The headers in which other platforms send their signatures. */
const OTHER_HEADERS: Readonly<Record<string, string>> = {
  "X-Signature": "",
  "X-Hub-Signature-256": ", as GitHub and Meta send it",
  "Stripe-Signature": ", as Stripe sends it",
  "Webhook-Signature": ", as Standard Webhooks has it",
  "Svix-Signature": ", as Svix sends it",
  "X-Slack-Signature": ", as Slack sends it",
  "X-Shopify-Hmac-Sha256": ", as Shopify sends it",
  "X-Square-Hmacsha256-Signature": ", as Square sends it",
  "Paddle-Signature": ", as Paddle sends it",
  "X-Zm-Signature": ", as Zoom sends it",
  "Linear-Signature": ", as Linear sends it",
  "X-Razorpay-Signature": ", as Razorpay sends it",
  "Paypal-Transmission-Sig": ", as PayPal sends it, made with a private key",
  "X-Webhook-Signature": "",
  Signature: "",
};

/** Reads the headers of a platform's signatures, more leniently than its scheme reads it. */
export function compileOffered(data: HmacData): (headers: DistinctHeaders) => OfferedDigests {
  const readStrictly = compileClaims(data);
  const names = [data.signature.header].flat();
  const readLoosely = looseReader(data);
  const [shown = ""] = names;
  return (headers) => {
    const strict = readStrictly(headers);
    const sentValues = names.flatMap((name) => headers[name.toLowerCase()] ?? []);
    const values = sentValues.filter((value) => value !== "");
    const loose = "digests" in strict ? undefined : readLoosely(values);
    const timestamp = timestampText(data, headers, values) ?? loose?.timestamp ?? textIn(headers, TIMESTAMP_HEADERS);
    if ("digests" in strict) return { digests: strict.digests.slice(0, MAX_DIGESTS), findings: [], timestamp };
    if (values.length === 0) return { timestamp, ...missing(headers, sentValues.length > 0) };
    const all = { ...loose, digests: loose?.digests ?? [], timestamp };
    if (strict.code === "signature_repeated")
      return { ...all, findings: [{ code: "repeated", message: `${strict.detail}.` }] };
    if (loose !== undefined && loose.findings.length > 0) return { ...all, findings: loose.findings };
    const message = `${strict.detail}.${digitsIn(values)}`;
    return { ...all, findings: [{ code: "malformed", message }] };
  };

  function missing(headers: DistinctHeaders, isEmpty: boolean): OfferedDigests {
    const none = isEmpty ? `\`${shown}\` is empty` : `The request has no \`${shown}\``;
    const isOther = (name: string) => !names.some((one) => one.toLowerCase() === name.toLowerCase());
    const other = Object.entries(OTHER_HEADERS).find(([name]) => isOther(name) && headers[name.toLowerCase()]?.[0]);
    if (other === undefined) return { digests: [], findings: [{ code: "missing", message: `${none}.` }] };
    const [name, sender] = other;
    const { digests, findings, timestamp } = readLoosely(headers[name.toLowerCase()] ?? []);
    const finding: Finding = { code: "other_header", message: `${none}, but \`${name}\`${sender}.` };
    return { digests, findings: [finding], ifRight: findings, ...(timestamp !== undefined && { timestamp }) };
  }

  /** Only its length says what came instead of a digest. */
  function digitsIn([value = ""]: readonly string[]): string {
    const { length = 0 } = SOME_HEX.exec(value.slice(0, MAX_HEADER_LENGTH))?.[0] ?? "";
    if (data.signature.encoding !== "hex" || length === 0) return "";
    const algorithm = ALGORITHMS[length];
    return ` It holds ${length} hexadecimal digits${algorithm === undefined ? "" : `, as ${algorithm} has`}.`;
  }
}

function textIn(headers: DistinctHeaders, names: readonly string[]): string | undefined {
  const values = names.flatMap((name) => headers[name.toLowerCase()]?.[0] ?? []);
  return values.find(({ length }) => length > 0 && length <= MAX_TIME_LENGTH);
}

function timestampText(
  { timestamp, signature }: HmacData,
  headers: DistinctHeaders,
  values: readonly string[],
): string | undefined {
  const { fields } = signature;
  if (fields?.timestamp === undefined) return textIn(headers, [timestamp?.header ?? []].flat());
  const start = `${fields.timestamp}${fields.assignment}`;
  const short = values.filter(({ length }) => length <= MAX_HEADER_LENGTH);
  const parts = short.flatMap((value) => value.split(fields.separator)).map((part) => part.trim());
  return parts.find((part) => part.startsWith(start))?.slice(start.length);
}

function looseReader({ algorithm = "sha256", signature }: HmacData) {
  const { encoding, prefix = "", fields } = signature;
  const bytes = DIGEST_BYTES[algorithm];
  const hex = `[0-9A-Fa-f]{${2 * bytes}}`;
  const base64 = `[A-Za-z0-9+/_-]{${Math.ceil((bytes * 4) / 3)}}={0,2}`;
  const digest = new RegExp(`(?<![A-Za-z0-9+/_-])(?:${hex}|${base64})(?![A-Za-z0-9+/_=-])`, "g");
  const isHex = new RegExp(`^${hex}$`);
  const expected = prefix === "" ? (fields?.value ?? "") + (fields?.assignment ?? "") : prefix;

  /** How a text differs from a signature of this platform; nothing where its form is right. */
  function findingsOf(text: string, before: string): Finding[] {
    const findings: Finding[] = [];
    const sentEncoding = isHex.test(text) ? "hex" : "base64";
    const wanted = encoding === "hex" ? "hex" : "base64";
    if (!before.endsWith(expected))
      findings.push({ code: "prefix", message: `The signature does not begin with \`${expected}\`.` });
    else if (expected === "" && before !== "") findings.push(precededBy(before));
    if (sentEncoding !== wanted) {
      const message = `The signature is in ${NAMES[sentEncoding]}, expected ${NAMES[wanted]}.`;
      findings.push({ code: "encoding", message });
    } else if (sentEncoding === "hex" && /[A-F]/.test(text) && signature.anyCase !== true)
      findings.push({ code: "encoding", message: "The signature is in upper-case hexadecimal, expected lower case." });
    return findings;
  }

  return (values: readonly string[]): OfferedDigests => {
    const short = values.slice(0, MAX_DIGESTS).filter(({ length }) => length <= MAX_HEADER_LENGTH);
    const matches = short.flatMap((value) => [...value.matchAll(digest)].slice(0, MAX_DIGESTS)).slice(0, MAX_DIGESTS);
    const digests = matches.map(([text]) => Buffer.from(text, isHex.test(text) ? "hex" : "base64"));
    const [first, second] = matches;
    if (first === undefined) return { digests, findings: [] };
    const before = first.input.slice(0, first.index).trimEnd();
    const knownPrefix = expected === "" ? KNOWN_PREFIX.exec(before)?.[1] : undefined;
    const timestamp = TIMESTAMP.exec(first.input)?.[1];
    if (fields === undefined && second?.input === first.input) {
      const message = `The header holds ${matches.length} signatures.`;
      return { digests, findings: [{ code: "repeated", message }], timestamp };
    }
    return { digests, findings: findingsOf(first[0], before), prefix: knownPrefix, timestamp };
  };
}

function precededBy(before: string): Finding {
  const [, known] = KNOWN_PREFIX.exec(before) ?? [];
  const message = known === undefined ? "Other text surrounds the signature." : `\`${known}\` precedes the signature.`;
  return { code: "prefix", message };
}
