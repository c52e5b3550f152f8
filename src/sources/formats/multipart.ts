import { isUtf8 } from "node:buffer";
import { isRefused, type JsonObject, type Refused, refused } from "../../domain/index.ts";
import { FieldCollector, malformedBody } from "./form.ts";

const MEDIA_TYPE = "multipart/form-data";
/** RFC 2046 §5.1.1: at most 70 characters. `=`, `/` and the like need quotes. */
const BOUNDARY = /[;\s]boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))(?:[\s;]|$)/i;
const MAX_HEADER_BYTES = 4_096;
const NAME = /; *name="([^"\\]*)"/i;
const FILE = /; *filename\*?=(?:"([^"]*)"|([^;]*))/i;
const PLAIN_ENCODINGS = ["7bit", "8bit", "binary"];

/**
 * The fields of a form (RFC 7578); a file is `{ filename, base64 }`. A text before the first boundary is refused, since
 * the header is not signed. With another boundary a value's text would be fields.
 * @param contentType the request's header, which names the boundary
 */
export function parseMultipart(body: Uint8Array, contentType: string): { readonly value: JsonObject } | Refused {
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
  const field = fieldOf(part.subarray(0, end));
  if (isRefused(field)) return field;
  const { name, filename } = field;
  const value = part.subarray(end + 4);
  if (filename !== undefined) return fields.add(name, { filename, base64: value.toString("base64") });
  return isUtf8(value) ? fields.add(name, value.toString("utf8")) : refused("body_not_utf8");
}

function fieldOf(head: Buffer): { readonly name: string; readonly filename?: string } | Refused {
  if (!isUtf8(head)) return refused("body_not_utf8");
  let field: Exclude<ReturnType<typeof fieldOf>, Refused> | undefined;
  for (const line of head.toString("utf8").split("\r\n")) {
    const colon = line.indexOf(":");
    const header = line.slice(0, Math.max(colon, 0)).toLowerCase();
    const value = line.slice(colon + 1);
    if (header === "content-disposition") {
      const name = NAME.exec(value)?.[1];
      const file = FILE.exec(value);
      if (name !== undefined) field = { name, ...(file !== null && { filename: file[1] ?? file[2] ?? "" }) };
    }
    const isEncoded = !PLAIN_ENCODINGS.includes(value.trim().toLowerCase());
    if (header === "content-transfer-encoding" && isEncoded) {
      return malformedBody("multipart: a part with a transfer encoding");
    }
  }
  return field ?? malformedBody("multipart: a part without a name");
}
