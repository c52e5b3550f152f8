import { type Finding, parseJson } from "../../domain/index.ts";

/** A finding from the body only, when no digest matches. */
export function guessFrom(body: Uint8Array): Finding {
  if (body.length === 0) return { code: "truncated", message: "The body is empty." };
  // It begins as a JSON object or array and ends before that does.
  if (OPENING.has(body[0]) && nesting(body).isOpen)
    return { code: "truncated", message: `The body ends inside its JSON, after ${body.length} bytes.` };
  return {
    code: "unknown",
    message: "The callback was signed with a secret that this receiver does not have, or its body was changed since.",
  };
}

/** A body that may have been signed, and `how` it differs, in words that follow "The signature matches the body". */
type RewrittenBody = { readonly text: string; readonly how: string };

const BOM = "\ufeff";
/** An indent costs two characters a level on each line; real payloads have fewer levels. */
const MAX_DEPTH = 16;
const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING: ReadonlySet<number | undefined> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number | undefined> = new Set([0x5d, 0x7d]);

/** Variants that editors, shells, JSON libraries and proxies make of a body: at most 12, none of them the body. */
export function rewrittenBodies(body: Uint8Array): RewrittenBody[] {
  const text = Buffer.from(body).toString("utf8");
  const variants = new Map([...edges(text), ...layouts(body, text)].toReversed().map((one) => [one.text, one]));
  variants.delete(text);
  return [...variants.values()].toReversed();
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
    { text: ascii(compact).replaceAll("/", "\\/"), how: "written as JSON with \\/ and \\uXXXX escapes, as PHP does" },
    { text: compact.replaceAll("/", "\\/"), how: "written as JSON with \\/ for each slash, as PHP does" },
    { text: ascii(compact), how: "written as JSON with \\uXXXX escapes" },
    { text: indented, how: "written as JSON with an indent of two spaces" },
  ];
}

function ascii(text: string): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(/[\u0080-\uffff]/g, escaped);
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
