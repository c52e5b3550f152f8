import { isUtf8 } from "node:buffer";
import { isRefused, type JsonObject, type Refused, refused } from "../../domain/index.ts";
import { FieldCollector, malformedBody } from "./form.ts";

const MEDIA_TYPE = "multipart/form-data";
/** RFC 2046 §5.1.1: at most 70 characters. `=`, `/` and the like need quotes. */
const BOUNDARY = /[;\s]boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))(?:[\s;]|$)/i;
const MAX_HEADER_BYTES = 4_096;
const NAME = /; *name="([^"\\]*)"/i;
const FILE = /; *filename\*?=/i;
const PLAIN_ENCODINGS = ["7bit", "8bit", "binary"];

/**
 * The text fields of a form (RFC 7578). A file is refused, since an event has none. A text before the first boundary is
 * refused too: the header is not signed, and with another boundary a value's own text would be fields.
 * @param contentType the request's header, which names the boundary
 */
export function parseMultipart(
  body: Uint8Array,
  contentType: string,
): { readonly value: JsonObject } | Refused {
  const isMultipart = contentType.toLowerCase().startsWith(MEDIA_TYPE);
  const match = isMultipart ? BOUNDARY.exec(contentType) : null;
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined) return malformedBody("multipart: the Content-Type header names no boundary");
  const fields = new FieldCollector();
  // A delimiter begins a line; the first one begins the body.
  const bytes = Buffer.concat([Buffer.from("\r\n"), body]);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  let at = bytes.indexOf(delimiter);
  if (at !== 0) return malformedBody("multipart: the body does not begin with its boundary");
  while (at !== -1) {
    const start = at + delimiter.length;
    const mark = bytes.toString("latin1", start, start + 2);
    if (mark === "--") return { value: fields.object };
    const end = bytes.indexOf(delimiter, start);
    if (mark !== "\r\n" || end === -1) break;
    const fault = addPart(fields, bytes.subarray(start, end));
    if (fault !== undefined) return fault;
    at = end;
  }
  return malformedBody("multipart: the body does not end with its boundary");
}

/** @param part from the line break that ends its delimiter, up to the next delimiter */
function addPart(fields: FieldCollector, part: Buffer): Refused | undefined {
  const end = part.subarray(0, MAX_HEADER_BYTES).indexOf("\r\n\r\n");
  if (end === -1) return malformedBody("multipart: a part without an end of its headers");
  const name = fieldName(part.subarray(0, end));
  if (isRefused(name)) return name;
  const value = part.subarray(end + 4);
  return isUtf8(value) ? fields.add(name, value.toString("utf8")) : refused("body_not_utf8");
}

function fieldName(head: Buffer): string | Refused {
  if (!isUtf8(head)) return refused("body_not_utf8");
  let name: string | undefined;
  for (const line of head.toString("utf8").split("\r\n")) {
    const colon = line.indexOf(":");
    const header = line.slice(0, Math.max(colon, 0)).toLowerCase();
    const value = line.slice(colon + 1);
    if (header === "content-disposition") {
      if (FILE.test(value)) return malformedBody("multipart: a file; expected text fields alone");
      name = NAME.exec(value)?.[1];
    }
    const isEncoded = !PLAIN_ENCODINGS.includes(value.trim().toLowerCase());
    if (header === "content-transfer-encoding" && isEncoded) {
      return malformedBody("multipart: a part with a transfer encoding");
    }
  }
  return name ?? malformedBody("multipart: a part without a name");
}
