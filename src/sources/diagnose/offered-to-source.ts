import type { Finding } from "../../domain/index.ts";
import { compileClaims } from "../schemes/claimed-signatures.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import { refusalsOf } from "../schemes/hmac-refusal.ts";
import { digestBytes } from "../schemes/keyed-digest.ts";
import type { DistinctHeaders } from "../schemes/scheme.ts";
import { KNOWN_PREFIX, OTHER_HEADERS } from "./offered-signature.ts";

export interface OfferedDigests {
  readonly digests: readonly Uint8Array[];
  /** How they differ from what the platform sends. */
  readonly findings: readonly Finding[];
  /** What stands before a digest where nothing is expected: one that platforms are known to send. */
  readonly prefix?: string | undefined;
  /** As it was sent; undefined where the platform sends none, or none is there. */
  readonly timestamp: string | undefined;
}

/** Each is compared with each candidate. */
const MAX_DIGESTS = 4;
const MAX_HEADER_LENGTH = 4_096;

/** What a platform's headers hold in the place of its signatures, read more leniently than its scheme reads it. */
export function compileOffered(data: HmacData): (headers: DistinctHeaders) => OfferedDigests {
  const readStrictly = compileClaims(data, refusalsOf({}));
  const names = [data.signature.header].flat();
  const readLoosely = looseReader(data);
  const [shown = ""] = names;
  return (headers) => {
    const strict = readStrictly(headers);
    const values = names.flatMap((name) => headers[name.toLowerCase()] ?? []).filter((value) => value !== "");
    const timestamp = timestampText(data, headers, values);
    if ("digests" in strict)
      return { digests: strict.digests.slice(0, MAX_DIGESTS), findings: [], timestamp };
    if (values.length === 0) return { ...missing(names, headers, readLoosely), timestamp };
    const { digests, findings, prefix } = readLoosely(values);
    const detail = `${strict.detail}.`;
    if (strict.code === "signature_repeated")
      return { digests, findings: [{ code: "repeated", message: detail }], timestamp };
    if (findings.length > 0) return { digests, findings, prefix, timestamp };
    return { digests, findings: [{ code: "malformed", message: detail }], timestamp };

    function missing(
      own: readonly string[],
      given: DistinctHeaders,
      read: typeof readLoosely,
    ): Pick<OfferedDigests, "digests" | "findings"> {
      const isOther = (name: string) => !own.some((one) => one.toLowerCase() === name.toLowerCase());
      const other = Object.entries({ "X-Signature": "", ...OTHER_HEADERS }).find(
        ([name]) => isOther(name) && given[name.toLowerCase()]?.[0],
      );
      const none = `The request has no \`${shown}\``;
      if (other === undefined) return { digests: [], findings: [{ code: "missing", message: `${none}.` }] };
      const [name, sender] = other;
      const message = `${none}, but \`${name}\`${sender}.`;
      return {
        digests: read(given[name.toLowerCase()] ?? []).digests,
        findings: [{ code: "other_header", message }],
      };
    }
  };
}

function timestampText(
  { timestamp, signature }: HmacData,
  headers: DistinctHeaders,
  values: readonly string[],
): string | undefined {
  const { fields } = signature;
  if (fields?.timestamp === undefined) {
    const names = [timestamp?.header ?? []].flat();
    const text = names.map((name) => headers[name.toLowerCase()]?.[0]).find((value) => value !== undefined);
    return text !== undefined && text.length <= MAX_HEADER_LENGTH ? text : undefined;
  }
  const start = `${fields.timestamp}${fields.assignment}`;
  const parts = values
    .filter(({ length }) => length <= MAX_HEADER_LENGTH)
    .flatMap((value) => value.split(fields.separator));
  return parts
    .find((part) => part.trim().startsWith(start))
    ?.trim()
    .slice(start.length);
}

function looseReader({ algorithm = "sha256", signature }: HmacData) {
  const { encoding, prefix = "", fields } = signature;
  const bytes = digestBytes(algorithm);
  const hex = `[0-9A-Fa-f]{${2 * bytes}}`;
  const base64 = `[A-Za-z0-9+/_-]{${Math.ceil((bytes * 4) / 3)}}={0,2}`;
  const digest = new RegExp(`(?<![A-Za-z0-9+/_-])(?:${hex}|${base64})(?![A-Za-z0-9+/_=-])`, "g");
  const isHex = new RegExp(`^${hex}$`);
  const expected = prefix === "" ? (fields?.value ?? "") + (fields?.assignment ?? "") : prefix;

  /** How a text differs from a signature of this platform; nothing where its form is right. */
  function findingsOf(text: string, before: string): Finding[] {
    const found: Finding[] = [];
    const given = isHex.test(text) ? "hex" : "base64";
    const wanted = encoding === "hex" ? "hex" : "base64";
    if (given !== wanted)
      found.push({
        code: "encoding",
        message: `The signature is in ${NAMES[given]}, expected ${NAMES[wanted]}.`,
      });
    else if (given === "hex" && /[A-F]/.test(text) && signature.anyCase !== true)
      found.push({
        code: "encoding",
        message: "The signature is in upper-case hexadecimal, expected lower case.",
      });
    if (!before.endsWith(expected))
      found.unshift({ code: "prefix", message: `The signature does not begin with \`${expected}\`.` });
    else if (expected === "" && before !== "") found.unshift(precededBy(before));
    return found;
  }

  return (values: readonly string[]): Omit<OfferedDigests, "timestamp"> => {
    const short = values.slice(0, MAX_DIGESTS).filter(({ length }) => length <= MAX_HEADER_LENGTH);
    const matches = short
      .flatMap((value) => [...value.matchAll(digest)].slice(0, MAX_DIGESTS))
      .slice(0, MAX_DIGESTS);
    const digests = matches.map(([text]) => Buffer.from(text, isHex.test(text) ? "hex" : "base64"));
    const [first] = matches;
    if (first === undefined) return { digests, findings: [] };
    const before = first.input.slice(0, first.index).trimEnd();
    const prefix = expected === "" ? KNOWN_PREFIX.exec(before)?.[1] : undefined;
    return { digests, findings: findingsOf(first[0], before), prefix };
  };
}

const NAMES = { hex: "hexadecimal", base64: "base64" } as const;

/** The only text of a caller that is repeated is one that platforms are known to send. */
function precededBy(before: string): Finding {
  const [, known] = KNOWN_PREFIX.exec(before) ?? [];
  const message =
    known === undefined ? "Other text surrounds the signature." : `\`${known}\` precedes the signature.`;
  return { code: "prefix", message };
}
