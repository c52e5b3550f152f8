import { isUtf8 } from "node:buffer";
import { isRefused, type JsonObject, type JsonValue, type Refused, refused } from "../../domain/index.ts";

const MAX_FIELDS = 1_000;
/** All that a form's serializer leaves unescaped (URL Standard), and no JSON object, array or text begins with. */
const FORM_BYTE = /[\w*.%+&=-]/;
const [AMPERSAND, EQUALS, PERCENT, PLUS, SPACE] = [0x26, 0x3d, 0x25, 0x2b, 0x20];

/**
 * A form of names and values (URL Standard, application/x-www-form-urlencoded), read strictly. Text that
 * `URLSearchParams` would replace by U+FFFD is refused, since two different ids could then be one.
 * @returns each field as a text. A repeated field is an array of its texts in their order, as Twilio may repeat one
 */
export function parseForm(form: Uint8Array): { readonly value: JsonObject } | Refused {
  if (!isUtf8(form)) return refused("body_not_utf8");
  const bytes = Buffer.from(form.buffer, form.byteOffset, form.byteLength);
  const fields = new FieldCollector();
  for (let start = 0; start < bytes.length; ) {
    if (bytes[start] === AMPERSAND) {
      start += 1;
      continue;
    }
    const next = bytes.indexOf(AMPERSAND, start);
    const end = next === -1 ? bytes.length : next;
    const fault = addPair(fields, bytes.subarray(start, end));
    if (fault !== undefined) return fault;
    start = end + 1;
  }
  return { value: fields.object };
}

/** The parameters of a request's target. One that is no form has none. */
export function parseQuery(target: string): JsonObject {
  const start = target.indexOf("?");
  const fields = parseForm(Buffer.from(start === -1 ? "" : target.slice(start + 1), "latin1"));
  return isRefused(fields) ? {} : fields.value;
}

function addPair(fields: FieldCollector, pair: Buffer): Refused | undefined {
  const equals = pair.indexOf(EQUALS);
  const name = decode(equals === -1 ? pair : pair.subarray(0, equals));
  const value = decode(equals === -1 ? pair.subarray(pair.length) : pair.subarray(equals + 1));
  if (typeof name !== "string") return name;
  if (typeof value !== "string") return value;
  return fields.add(name, value);
}

/** Any sender's form is decoded before it is verified. So one pass goes over its bytes, with no call per escape. */
function decode(part: Buffer): string | Refused {
  const decoded = Buffer.allocUnsafe(part.length);
  let length = 0;
  for (let index = 0; index < part.length; index += 1) {
    let byte = part[index] as number;
    if (byte === PLUS) byte = SPACE;
    else if (byte === PERCENT) {
      byte = hexDigit(part[index + 1]) * 16 + hexDigit(part[index + 2]);
      if (Number.isNaN(byte)) return malformedBody("form: `%` without two hexadecimal digits");
      index += 2;
    }
    decoded[length] = byte;
    length += 1;
  }
  const text = decoded.subarray(0, length);
  return isUtf8(text) ? text.toString("utf8") : refused("body_not_utf8");
}

/** NaN for a byte that is no hexadecimal digit, and for none. */
function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}

/** Whether a body that is a form or JSON is a form, by its first byte: Content-Type is not signed. */
export function isForm(body: Uint8Array): boolean {
  return body[0] === undefined || FORM_BYTE.test(String.fromCharCode(body[0]));
}

/** Fields of a form, bounded in number. */
export class FieldCollector {
  readonly object: JsonObject = {};
  #count = 0;

  add(name: string, value: JsonValue): Refused | undefined {
    if (name === "__proto__") return refused("body_forbidden_key");
    this.#count += 1;
    if (this.#count > MAX_FIELDS) return malformedBody(`form: more than ${MAX_FIELDS} fields`);
    const earlier: JsonValue | undefined = Object.hasOwn(this.object, name) ? this.object[name] : undefined;
    if (earlier === undefined) this.object[name] = value;
    else if (Array.isArray(earlier)) earlier.push(value);
    else this.object[name] = [earlier, value];
    return undefined;
  }
}

export function malformedBody(message: string): Refused {
  return refused("body_malformed", { message });
}
