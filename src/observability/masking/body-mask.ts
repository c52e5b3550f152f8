import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import { parseJson } from "../../domain/index.ts";
import type { JsonMask } from "./json-mask.ts";
import { charactersToMask, MaskBudget, maskedPrefix } from "./mask-limits.ts";
import type { ParameterMask } from "./parameter-mask.ts";
import { MASKED, type SecretPatterns } from "./secret-patterns.ts";
import type { TextMask } from "./text-mask.ts";

export interface BodyOptions {
  /** Whether it was parsed as JSON already; else it may be anything. */
  readonly isJson?: boolean;
  /** Longer ones are kept in part. By default 65,536 bytes of JSON that was parsed, and 16,384 of anything else. */
  readonly maxBytes?: number;
  /** The digest, if it is known already: of a long body it takes a while. */
  readonly sha256?: string;
  readonly budget?: MaskBudget;
}

const MAX_JSON_BYTES = 65_536;
const MAX_BYTES = 16_384;
const START_CHARACTERS = 2_048;
/** The first pair must have a short name and a value. Base64 text may end in `=`, and is no form. */
const FORM = /^[A-Za-z0-9%+._~*!'()[\]-]{1,128}=[A-Za-z0-9%+._~*!'()&:/,@-][A-Za-z0-9%+._~*!'()&=:/,@[\]-]*$/;
const JSON_BEGINNING = /^\s*(?:\{|\[(?!masked\]))/;
/** A text that is one word may be a token itself. */
const SEVERAL_WORDS = /[\s<{[]/;
/** In a sentence no separator stands between a name and its value. */
const IN_SENTENCE = /\b(password|passphrase|passcode|secret|token|pin|code|key)(\s+(?:is|was)\s+)\S+/gi;
const UNPRINTABLE = /[^\t\n\r -~\u00a0-\uffff]/g;
const MAX_BYTES_A_CHARACTER = 3;

type Kind = "json" | "form" | "text";

/** Masks a body, and leaves all else of it as it came: JSON, a form, or in a note what is neither. */
export function createBodyMask(
  json: JsonMask,
  parameters: ParameterMask["parameters"],
  text: TextMask,
  patterns: SecretPatterns,
) {
  const sentence = (given: string, most: number): string => text(given, most).replace(IN_SENTENCE, `$1$2${MASKED}`);

  function maskAs(kind: Kind, given: string, budget: MaskBudget): string | undefined {
    if (kind === "json") return json(given, budget);
    if (kind === "form") return parameters(given, budget);
    // Text in UTF-16 that was taken for another one, so that a name and its value can be read.
    const readable = given.replaceAll("\u0000", "");
    const first = JSON_BEGINNING.test(readable) ? json(readable, budget) : readable;
    return first && sentence(first, 2 * first.length);
  }

  const startOf = (kind: Kind, given: string): string | undefined =>
    maskedPrefix(given, START_CHARACTERS, patterns, (part) => maskAs(kind, part, new MaskBudget()));

  return (bytes: Uint8Array, options: BodyOptions = {}): string => {
    const { isJson = false, maxBytes = isJson ? MAX_JSON_BYTES : MAX_BYTES } = options;
    const { sha256, budget = new MaskBudget() } = options;
    const { length } = bytes;
    if (length === 0) return "";
    const note = (fields: object): string =>
      JSON.stringify({ ...fields, bytes: length, sha256: sha256 ?? hash("sha256", bytes, "hex") });
    const noteWith = (mark: "unparsed" | "truncated", kind: Kind, given: string): string =>
      `${note({ [mark]: true }).slice(0, -1)},"start":${JSON.stringify(startOf(kind, given) ?? "")}}`;
    const read = bytes.subarray(0, MAX_BYTES_A_CHARACTER * (charactersToMask(START_CHARACTERS, patterns) + 2));
    if (length > maxBytes) {
      const isText = isJson || isUtf8(withoutLastCharacter(read));
      const given = isText ? utf8(read) : readable(read);
      const kind = isJson ? "json" : isText && FORM.test(given) ? "form" : "text";
      return noteWith("truncated", kind, given);
    }
    if (!isJson && !isUtf8(bytes)) return noteWith("unparsed", "text", readable(read));
    const given = utf8(bytes);
    const kind = isJson || isJsonText(given, budget) ? "json" : FORM.test(given) ? "form" : "text";
    if (kind === "text" && !SEVERAL_WORDS.test(given.trim())) return note({ unparsed: true });
    const shown = maskAs(kind, given, budget);
    if (shown === undefined || shown.length > 2 * maxBytes) return noteWith("truncated", kind, given);
    if (kind !== "text") return shown;
    const quoted = JSON.stringify(shown);
    // Control characters take six times their length in JSON.
    if (quoted.length > 2 * maxBytes) return noteWith("unparsed", kind, given);
    return `${note({ unparsed: true }).slice(0, -1)},"text":${quoted}}`;
  };
}

function isJsonText(text: string, budget: MaskBudget): boolean {
  return JSON_BEGINNING.test(text) && budget.take(2 * text.length) && parseJson(text) !== undefined;
}

function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** The first bytes of a character that a cut went through are no UTF-8. */
function withoutLastCharacter(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && end > bytes.length - 4 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, Math.max(0, end - 1));
}

/** The readable part of bytes that are no UTF-8, as Latin-1; other characters as `\xNN`. */
function readable(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return text
    .replaceAll("\u0000", "")
    .replace(UNPRINTABLE, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
