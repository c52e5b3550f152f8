import type { DiagnosisCode } from "../../src/domain/index.ts";
import { BODY, EVENT, mac, type RefusedCase } from "./refused-cases.ts";

/** Signed as it was sent, and changed on the way. */
function changed(
  title: string,
  sent: string | Uint8Array,
  arrived: string | Uint8Array,
  message: string,
  code: DiagnosisCode = "reserialised",
): RefusedCase {
  return { title, headers: { "x-signature": mac(sent) }, body: arrived, code, message };
}

const PYTHON = JSON.stringify(EVENT, null, " ")
  .replace(/\n */g, " ")
  .replace("{ ", "{")
  .replaceAll(" }", "}")
  .replaceAll("{ ", "{");
const escaped = (text: string) =>
  text.replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
const slashed = (text: string) => text.replaceAll("/", "\\/");
const sorted = JSON.stringify({
  data: {
    amount: EVENT.data.amount,
    link: EVENT.data.link,
    note: EVENT.data.note,
    order_id: EVENT.data.order_id,
  },
  event_id: EVENT.event_id,
  event_type: EVENT.event_type,
  timestamp: EVENT.timestamp,
});
const inLines = JSON.stringify(EVENT, null, 2);

const WRITTEN_ANEW: readonly RefusedCase[] = [
  changed("as Python writes it, then compact", PYTHON, BODY, "as Python does"),
  changed("compact, then as Python writes it", BODY, PYTHON, "without spaces"),
  changed(
    "escaped as Python does, then plain",
    escaped(PYTHON),
    BODY,
    "as Python does, with characters beyond ASCII",
  ),
  changed("with an indent of two, then compact", inLines, BODY, "indent of two spaces"),
  changed("compact, then with an indent of two", BODY, inLines, "without spaces"),
  changed("with an indent of four", JSON.stringify(EVENT, null, 4), BODY, "indent of four spaces"),
  changed("with tabs", JSON.stringify(EVENT, null, "\t"), BODY, "with tabs"),
  changed("with its keys sorted", sorted, BODY, "keys sorted"),
  changed("escaped beyond ASCII, then plain", escaped(BODY), BODY, "beyond ASCII as \\uXXXX"),
  changed("plain, then escaped beyond ASCII", BODY, escaped(BODY), "no more escapes than needed"),
  changed("as PHP writes it, then plain", slashed(escaped(BODY)), BODY, "as PHP does"),
  changed("slashes escaped, then plain", slashed(BODY), BODY, "slashes escaped"),
  changed("plain, then slashes escaped", BODY, slashed(BODY), "no more escapes than needed"),
  changed(
    "as Go writes it",
    BODY.replace(/[<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
    BODY,
    "as Go does",
  ),
  changed(
    "numbers that JavaScript wrote anew",
    BODY,
    BODY.replace("49.9", "49.90"),
    "as JavaScript writes them",
  ),
  changed(
    "a number that lost its decimals",
    BODY.replace("1767225600", "1767225600.0"),
    BODY,
    "more decimals",
  ),
  changed("49.90 that became 49.9", BODY.replace("49.9", "49.90"), BODY, "more decimals"),
  changed(
    "in lines with a break at the end",
    `${inLines}\n`,
    BODY,
    "two spaces, with a line break at the end",
  ),
];

const EDGES: readonly RefusedCase[] = [
  changed(
    "a line break at the end that was cut",
    `${BODY}\n`,
    BODY,
    "line break at its end, which was cut off",
  ),
  changed("a line break that was added", BODY, `${BODY}\n`, "without the white space at its end"),
  changed("CRLF that became LF", inLines.replaceAll("\n", "\r\n"), inLines, "line breaks of CRLF"),
  changed("LF that became CRLF", inLines, inLines.replaceAll("\n", "\r\n"), "line breaks of LF"),
  changed("a byte order mark that was added", BODY, `\ufeff${BODY}`, "without the byte order mark"),
  changed("a byte order mark that was cut", `\ufeff${BODY}`, BODY, "with a byte order mark"),
];

const latin1 = Buffer.from(BODY, "latin1");
const CONVERTED: readonly RefusedCase[] = [
  changed("encoded as a form", BODY, encodeURIComponent(BODY), "encoded as a form", "converted"),
  changed(
    "encoded as a form's only key",
    BODY,
    `${encodeURIComponent(BODY).replaceAll("%20", "+")}=`,
    "as a form",
    "converted",
  ),
  changed("encoded as a form's field", BODY, `payload=${encodeURIComponent(BODY)}`, "as a form", "converted"),
  changed("encoded in base64", BODY, Buffer.from(BODY).toString("base64"), "base64 of", "converted"),
  changed("put into a JSON string", BODY, JSON.stringify(BODY), "inside the JSON string", "converted"),
  changed(
    "UTF-8 taken for ISO 8859-1 and encoded again",
    BODY,
    Buffer.from(Buffer.from(BODY).toString("latin1")),
    "ISO 8859-1",
    "converted",
  ),
  changed("sent in ISO 8859-1", BODY, latin1, "it came in ISO 8859-1", "converted"),
  changed("signed in ISO 8859-1", latin1, BODY, "ISO 8859-1", "converted"),
  changed("signed in UTF-16", Buffer.from(BODY, "utf16le"), BODY, "UTF-16", "converted"),
  changed(
    "with HTML entities",
    BODY,
    BODY.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
    "HTML entities",
    "converted",
  ),
  changed(
    "with characters that were replaced",
    BODY,
    BODY.replace("ü", "\ufffd").replace("ë", "\ufffd"),
    "could not be decoded",
    "converted",
  ),
];

const long = JSON.stringify({ ...EVENT, data: { text: "x".repeat(5_000) } });
const LOST: readonly RefusedCase[] = [
  changed("cut off in a string", long, long.slice(0, 4_096), "after 4096 bytes, exactly 4 KiB", "truncated"),
  changed("cut off in a word", '{"a":true}', '{"a":tr', "after 7 bytes.", "truncated"),
  changed("cut off behind a value", '{"a":1,"b":[2]}', '{"a":1,"b":[2]', "after 14 bytes.", "truncated"),
  changed(
    "cut off inside a character",
    BODY,
    Buffer.from(BODY).subarray(0, Buffer.from(BODY).indexOf(0xc3) + 1),
    "breaks off",
    "truncated",
  ),
  changed("lost", BODY, "", "The body is empty.", "empty_body"),
];

const OTHERS: readonly RefusedCase[] = [
  {
    title: "signed with a secret that nobody knows",
    headers: { "x-signature": mac(BODY, "q".repeat(32)) },
    code: "unknown",
    message: "none of the known secrets",
  },
  {
    title: "changed by hand",
    headers: { "x-signature": mac(BODY) },
    body: BODY.replace("49.9", "9949.9"),
    code: "unknown",
    message: "none of the known secrets",
  },
  {
    title: "a stranger's, with a prefix",
    headers: { "x-signature": `sha256=${"0".repeat(64)}` },
    code: "unknown",
    message: "`sha256=` stands before the signature. The signature fits none",
  },
  {
    title: "no JSON and signed by nobody",
    headers: { "x-signature": "0".repeat(64) },
    body: "a=b&c=d",
    code: "unknown",
    message: "none of the known",
  },
];

export const CHANGED_BODIES = [...WRITTEN_ANEW, ...EDGES, ...CONVERTED, ...LOST, ...OTHERS];
