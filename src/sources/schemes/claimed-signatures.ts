import { isRefused, type Refused } from "../../domain/index.ts";
import { optionError } from "../option-error.ts";
import type { DistinctHeaders } from "../request.ts";
import type { HmacData, SignaturePlace } from "./hmac-data.ts";
import { DIGEST_BYTES } from "./keyed-digest.ts";
import { malformed, quoted, refuse } from "./scheme.ts";

export interface ClaimedSignatures {
  /** At least one, each as long as the algorithm's digest. */
  readonly digests: readonly Buffer[];
  /** The field beside them, where the platform sends it there. */
  readonly timestamp: string | undefined;
}

type ReadClaims = (headers: DistinctHeaders) => ClaimedSignatures | Refused;

/** A platform sends as many as it has secrets; each is compared with each of ours. */
const MAX_SIGNATURES = 16;
const MAX_HEADER_LENGTH = 4_096;

/** Reads the signatures that a request claims to have; what reads them is chosen here, once. */
export function compileClaims(data: HmacData): ReadClaims {
  const { header, fields, mayRepeat = false } = data.signature;
  const names = [header].flat();
  const read = fields === undefined ? createSingle(data) : createFields(data);
  if (names.length === 0) throw optionError("signature.header", "none", "at least one");
  if (fields !== undefined && mayRepeat)
    throw optionError("signature.mayRepeat", "it beside fields, which hold several signatures themselves");
  const missing = `${quoted(names)}: missing; expected ${names.length === 1 ? "a" : "at least one"} signature`;
  const readers = names.map((name) => createHeaderReader(name, read, mayRepeat));
  const [only] = readers;
  if (readers.length > 1 || only === undefined) return severalHeaders(readers, missing);
  return (headers) => only(headers) ?? refuse("signature_missing", missing);
}

type ReadValue = (value: string, name: string) => ClaimedSignatures | Refused;
type ReadHeader = (headers: DistinctHeaders) => ClaimedSignatures | Refused | undefined;

function createHeaderReader(name: string, read: ReadValue, mayRepeat: boolean): ReadHeader {
  const key = name.toLowerCase();
  return (headers) => {
    const values = headers[key];
    const value = values?.[0];
    if (values === undefined || value === undefined || value === "") return undefined;
    if (mayRepeat) return readRepeated(values, read, name);
    if (values.length > 1)
      return refuse("signature_repeated", `\`${name}\`: stands ${values.length} times, expected once`);
    return read(value, name);
  };
}

/** A proxy may have joined what the platform sent apart. */
function readRepeated(values: readonly string[], read: ReadValue, name: string): ClaimedSignatures | Refused {
  const digests: Buffer[] = [];
  const joined = values.join(",");
  if (joined.length > MAX_HEADER_LENGTH) return malformed(tooMany("the header"));
  for (const value of joined.split(",")) {
    const claims = read(value.trim(), name);
    if (isRefused(claims)) return claims;
    digests.push(...claims.digests);
  }
  if (digests.length > MAX_SIGNATURES) return malformed(tooMany("the header"));
  return { digests, timestamp: undefined };
}

function severalHeaders(readers: readonly ReadHeader[], missing: string): ReadClaims {
  return (headers) => {
    const digests: Buffer[] = [];
    let timestamp: string | undefined;
    for (const readHeader of readers) {
      const claims = readHeader(headers);
      if (claims === undefined) continue;
      if (isRefused(claims)) return claims;
      digests.push(...claims.digests);
      timestamp ??= claims.timestamp;
      // Each signature would have to be compared under its own one.
      if (claims.timestamp !== timestamp)
        return refuse("timestamp_missing", "the headers of signatures hold different timestamps");
    }
    if (digests.length > MAX_SIGNATURES) return malformed(tooMany("the headers"));
    return digests.length === 0 ? refuse("signature_missing", missing) : { digests, timestamp };
  };
}

const tooMany = (place: string) => `${place}: more than ${MAX_SIGNATURES} signatures`;

function createSingle(data: HmacData): ReadValue {
  const { decode, expected } = createDecoder(data);
  return (value, name) => {
    const digest = decode(value);
    if (digest === undefined) return malformed(`\`${name}\`: expected ${expected}`);
    return { digests: [digest], timestamp: undefined };
  };
}

function createFields(data: HmacData): ReadValue {
  const { decode, expected } = createDecoder(data);
  const { separator, assignment, value: wanted, timestamp: clock } = data.signature.fields ?? {};
  if (separator === undefined || assignment === undefined || separator === "")
    throw optionError("signature.fields.separator", "an empty text");
  const label = wanted === "" ? "its signatures" : `\`${wanted}\``;
  return (value, name) => {
    const malformedHeader = (detail: string) => malformed(`\`${name}\`: ${detail}`);
    if (value.length > MAX_HEADER_LENGTH) return malformedHeader(`longer than ${MAX_HEADER_LENGTH} characters`);
    const digests: Buffer[] = [];
    let timestamp: string | undefined;
    for (const field of value.split(separator)) {
      const end = field.indexOf(assignment);
      // A field of another name is of a scheme to come, or of one that is not accepted here.
      if (end === -1) continue;
      // WorkOS sends a space after the comma.
      const key = field.slice(0, end).trimStart();
      const text = field.slice(end + assignment.length);
      if (key === clock) {
        if (timestamp !== undefined)
          return refuse("timestamp_missing", `\`${name}\`: \`${clock}\` stands more than once`);
        timestamp = text;
      } else if (key === wanted) {
        const digest = decode(text);
        if (digest === undefined) return malformedHeader(`expected ${expected} in ${label}`);
        if (digests.length === MAX_SIGNATURES) return malformed(tooMany(`\`${name}\``));
        digests.push(digest);
      }
    }
    return digests.length === 0 ? malformedHeader(`holds no field ${label}`) : { digests, timestamp };
  };
}

interface Decoder {
  /** The digest that a text is the canonical form of; undefined for any other text. */
  decode(text: string): Buffer | undefined;
  /** That form, for an operator. */
  readonly expected: string;
}

function createDecoder({ signature, algorithm = "sha256" }: HmacData): Decoder {
  const { prefix = "", encoding, isPrefixOptional = false } = signature;
  const bytes = DIGEST_BYTES[algorithm];
  const bare = {
    hex: hexDecoder,
    "base64-of-hex": hexInBase64Decoder,
    base64: base64Decoder,
    base64url: base64Decoder,
  }[encoding](signature, bytes);
  if (prefix === "") return bare;
  return {
    decode(text) {
      if (text.startsWith(prefix)) return bare.decode(text.slice(prefix.length));
      return isPrefixOptional ? bare.decode(text) : undefined;
    },
    expected: `\`${prefix}\`${isPrefixOptional ? ", or nothing," : ""} and ${bare.expected}`,
  };
}

/** The shape is checked before decoding: `Buffer.from(…, "hex")` silently stops at the first bad digit. */
function hexDecoder({ anyCase = false }: SignaturePlace, bytes: number): Decoder {
  const shape = new RegExp(`^[0-9a-f${anyCase ? "A-F" : ""}]{${bytes * 2}}$`);
  return {
    decode: (text) => (shape.test(text) ? Buffer.from(text, "hex") : undefined),
    expected: `${bytes * 2} ${anyCase ? "" : "lowercase "}hexadecimal digits`,
  };
}

function hexInBase64Decoder(signature: SignaturePlace, bytes: number): Decoder {
  const outer = base64Decoder(signature, bytes * 2);
  const inner = hexDecoder(signature, bytes);
  return {
    decode(text) {
      const hex = outer.decode(text);
      return hex === undefined ? undefined : inner.decode(hex.toString("latin1"));
    },
    expected: `${outer.expected}, of ${inner.expected}`,
  };
}

/** The last character has bits to spare (RFC 4648 §3.5). Of the texts that give the same bytes, one is taken. */
function base64Decoder({ encoding, padding }: SignaturePlace, bytes: number): Decoder {
  const base = encoding === "base64url" ? "base64url" : "base64";
  const length = Math.ceil((bytes * 8) / 6);
  const pad = "=".repeat(Math.ceil(bytes / 3) * 4 - length);
  const standard = base === "base64" ? pad : "";
  const tail = padding === "optional" ? `(?:${pad})?` : standard;
  const shape = new RegExp(`^[A-Za-z0-9${base === "base64" ? "+/" : "_-"}]{${length}}${tail}$`);
  const form = padding === "optional" ? "with or without padding" : standard === "" ? "without padding" : "";
  return {
    decode(text) {
      if (!shape.test(text)) return undefined;
      const decoded = Buffer.from(text, base);
      return decoded.toString(base).slice(0, length) === text.slice(0, length) ? decoded : undefined;
    },
    expected: `${length + standard.length} characters of ${base}${form === "" ? "" : `, ${form}`}`,
  };
}
