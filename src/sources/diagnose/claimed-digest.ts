import type { Finding } from "../../domain/index.ts";
import { ALGORITHMS } from "./digest.ts";

/** A digest that a header holds, and what is not as it should be in the way it is written. */
export interface ClaimedDigest {
  readonly digest: Uint8Array;
  readonly findings: readonly Finding[];
  /** What stands beside it, as in Stripe's header. */
  readonly timestamp: string | undefined;
}

interface Piece {
  readonly text: string;
  readonly findings: readonly Finding[];
}

const MAX_HEADER_LENGTH = 2_048;
const MAX_PARTS = 4;
const STANDARD_WEBHOOKS = /^v\d[a-z]?,/;
const TIMESTAMP = /^ts?=(\d{1,17})$/;
const NAMED = /^([A-Za-z][\w-]{0,15})([=: ])(.+)$/;
const BYTES_APART = /^(?:[0-9A-Fa-f]{2}:){15,63}[0-9A-Fa-f]{2}$/;
const HEX = /^[0-9a-f]+$/;
const ANY_HEX = /^[0-9A-Fa-f]+$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const BASE64URL = /^[A-Za-z0-9_-]+={0,2}$/;
/** What is shown of a stranger's text: these, and nothing else. After `signature=` the log would mask what follows. */
const KNOWN_NAMES = new Set(
  "sha256 sha1 sha512 sha384 md5 hmac hmac-sha256 hmac-sha1 hmac-sha512 v0 v1 v2 s h1 sig bearer".split(" "),
);

/** The digests in a header's value, however they are written; none where it holds no digest. */
export function claimsIn(value: string): ClaimedDigest[] {
  if (value.length > MAX_HEADER_LENGTH) return [];
  const { text, findings } = unwrapped(value);
  const parts = partsOf(text);
  const timestamp = parts.map((part) => TIMESTAMP.exec(part)?.[1]).find((found) => found !== undefined);
  const besides = timestamp === undefined ? [] : [prefix("A timestamp stands beside the signature.")];
  return parts
    .filter((part) => !TIMESTAMP.test(part))
    .slice(0, MAX_PARTS)
    .flatMap((part) => {
      const piece = withoutName(part);
      const decoded = decode(piece.text);
      if (decoded === undefined) return [];
      return [
        {
          ...decoded,
          timestamp,
          findings: [...findings, ...besides, ...piece.findings, ...decoded.findings],
        },
      ];
    });
}

/** Quotes around it, and what an address would need escaped. */
function unwrapped(value: string): Piece {
  const findings: Finding[] = [];
  let text = value.trim();
  const [first = ""] = text;
  if (text.length > 1 && `"'\``.includes(first) && text.endsWith(first)) {
    text = text.slice(1, -1).trim();
    findings.push(encoding("The signature stands in quotes."));
  }
  if (text.includes("%")) {
    try {
      text = decodeURIComponent(text);
      findings.push(encoding("The signature is percent-encoded."));
    } catch {
      // It stays as it came, and is no digest then.
    }
  }
  return { text, findings };
}

/** Several values stand between commas; those of Standard Webhooks between spaces, with a comma inside. */
function partsOf(text: string): string[] {
  if (STANDARD_WEBHOOKS.test(text)) return text.split(" ").filter((part) => part !== "");
  return text
    .split(/[,;]/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function withoutName(part: string): Piece {
  if (STANDARD_WEBHOOKS.test(part)) {
    const text = part.slice(part.indexOf(",") + 1);
    return { text, findings: [prefix("`v1,` stands before the signature, as in Standard Webhooks.")] };
  }
  if (BYTES_APART.test(part)) {
    return {
      text: part.replaceAll(":", ""),
      findings: [encoding("Colons stand between the bytes of the signature.")],
    };
  }
  if (/^0x/i.test(part))
    return { text: part.slice(2), findings: [prefix("`0x` stands before the signature.")] };
  const [, name, mark = "", rest = ""] = NAMED.exec(part) ?? [];
  if (name === undefined) return { text: part, findings: [] };
  const isKnown = KNOWN_NAMES.has(name.toLowerCase());
  const shown = isKnown ? `\`${name}${mark}\`` : "Something";
  return { text: rest.trim(), findings: [prefix(`${shown} stands before the signature.`)] };
}

function decode(given: string): Pick<ClaimedDigest, "digest" | "findings"> | undefined {
  const text = given.replace(/\s/g, "");
  const spaces = text === given ? [] : [encoding("White space stands inside the signature.")];
  const found = (digest: Uint8Array, message?: string) =>
    ALGORITHMS[digest.length] === undefined
      ? undefined
      : { digest, findings: message === undefined ? spaces : [...spaces, encoding(message)] };
  if (HEX.test(text)) return found(Buffer.from(text, "hex"));
  if (ANY_HEX.test(text))
    return found(Buffer.from(text, "hex"), "The signature is in upper-case hexadecimal.");
  const isUrl = !BASE64.test(text);
  if (isUrl && !BASE64URL.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64");
  const digits = bytes.toString("latin1");
  if (ANY_HEX.test(digits) && ALGORITHMS[digits.length / 2] !== undefined)
    return found(Buffer.from(digits, "hex"), "The signature is base64 of its hexadecimal digits.");
  return found(bytes, `The signature is in ${isUrl || !text.endsWith("=") ? base64Name(text) : "base64"}.`);
}

/** Without padding and without a sign that only one of the two has, it may be either. */
function base64Name(text: string): string {
  if (/[-_]/.test(text)) return "base64url";
  return text.length % 4 === 0 ? "base64" : "base64 without its padding";
}

function prefix(message: string): Finding {
  return { code: "prefix", message };
}

function encoding(message: string): Finding {
  return { code: "encoding", message };
}
