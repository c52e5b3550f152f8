import type { DiagnosisCode } from "../../domain/index.ts";

/** Bytes that may have been sent, where those that arrived were changed on the way. */
export interface Original {
  readonly code: Extract<DiagnosisCode, "reserialised" | "converted" | "other_content">;
  readonly bytes: Uint8Array | string;
  /** A sentence. */
  readonly message: string;
}

const FORM_FIELD = /^[A-Za-z_]{1,20}=/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const ENTITIES: Readonly<Record<string, string>> = {
  "&quot;": '"',
  "&#34;": '"',
  "&#39;": "'",
  "&apos;": "'",
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
};
const ENTITY = /&(?:quot|#34|#39|apos|lt|gt|amp);/g;
const BOM = "\ufeff";

/** What small changes at the edges and line ends may have done. */
export function* edgesOf(text: string): Generator<Original> {
  const fits = (bytes: string, message: string): Original => ({ code: "reserialised", bytes, message });
  if (text.startsWith(BOM))
    yield fits(text.slice(1), "The signature fits the body without the byte order mark that it begins with.");
  else
    yield fits(
      BOM + text,
      "The signature fits the body with a byte order mark before it, which was cut off on the way.",
    );
  yield fits(
    `${text}\n`,
    "The signature fits the body with a line break at its end, which was cut off on the way.",
  );
  yield fits(
    `${text}\r\n`,
    "The signature fits the body with a Windows line break at its end, which was cut off on the way.",
  );
  if (/\s$/.test(text))
    yield fits(
      text.trimEnd(),
      "The signature fits the body without the white space at its end, which was added on the way.",
    );
  if (/^\s/.test(text))
    yield fits(text.trim(), "The signature fits the body without the white space around it.");
  if (text.includes("\r\n"))
    yield fits(
      text.replaceAll("\r\n", "\n"),
      "The signature fits the body with line breaks of LF; on the way they became CRLF.",
    );
  else if (text.includes("\n"))
    yield fits(
      text.replaceAll("\n", "\r\n"),
      "The signature fits the body with line breaks of CRLF; on the way they became LF.",
    );
}

/** What decoding and encoding on the way may have done. */
export function* conversionsOf(text: string, body: Uint8Array): Generator<Original> {
  yield* formsOf(text);
  yield* characterSetsOf(text, body);
  const fits = (bytes: string | Uint8Array, message: string): Original => ({
    code: "converted",
    bytes,
    message,
  });
  if (text.startsWith('"')) {
    const inner = parsed(text);
    if (typeof inner === "string")
      yield fits(inner, "The signature fits the text inside the JSON string that came as the body.");
  }
  yield fits(JSON.stringify(text), "The signature fits the body written once more as a JSON string.");
  if (BASE64.test(text))
    yield fits(
      Buffer.from(text, "base64"),
      "The signature fits what the body is the base64 of: it was encoded on the way.",
    );
  if (text.includes("&")) {
    const bare = text.replace(ENTITY, (entity) => ENTITIES[entity] ?? entity);
    if (bare !== text)
      yield fits(bare, "The signature fits the body without HTML entities; they were put in on the way.");
  }
}

/** A body that a form's encoding was applied to. */
function* formsOf(text: string): Generator<Original> {
  if (!/[%+=]/.test(text)) return;
  const message = "The signature fits the body before it was encoded as a form.";
  for (const part of new Set([text, text.replace(/=$/, ""), text.replace(FORM_FIELD, "")])) {
    try {
      const decoded = decodeURIComponent(part.replaceAll("+", " "));
      if (decoded !== text) yield { code: "converted", bytes: decoded, message };
    } catch {
      // Not every percent sign begins an escape: then it was no form.
    }
  }
}

function* characterSetsOf(text: string, body: Uint8Array): Generator<Original> {
  const bytes = Buffer.from(body);
  const fits = (original: Uint8Array, message: string): Original => ({
    code: "converted",
    bytes: original,
    message,
  });
  yield fits(Buffer.from(text, "utf16le"), "The signature fits the body in UTF-16; it came in UTF-8.");
  if (!body.some((byte) => byte > 0x7f)) return;
  yield fits(
    Buffer.from(text, "latin1"),
    "The signature fits the body in ISO 8859-1: it was signed so, or its UTF-8 was taken for ISO 8859-1 on the way and encoded once more.",
  );
  yield fits(
    Buffer.from(bytes.toString("latin1"), "utf8"),
    "The signature fits the body in UTF-8; it came in ISO 8859-1.",
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
