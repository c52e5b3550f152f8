import { isUtf8 } from "node:buffer";
import { type JsonObject, type JsonValue, type Refused, refused } from "../../domain/index.ts";

const MAX_FIELDS = 1_000;
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;

/**
 * A form of names and values (URL Standard, application/x-www-form-urlencoded), read strictly: what `URLSearchParams`
 * would replace by U+FFFD is refused, since two different ids could then be one.
 * @returns each field as a text; a field that is repeated as an array of its texts in their order, as Twilio may repeat one
 */
export function parseForm(form: Uint8Array): { readonly value: JsonObject } | Refused {
  if (!isUtf8(form)) return refused("body_not_utf8");
  const text = Buffer.from(form.buffer, form.byteOffset, form.byteLength).toString("latin1");
  const fields = new FieldCollector();
  for (let start = 0; start < text.length; ) {
    const next = text.indexOf("&", start);
    const end = next === -1 ? text.length : next;
    if (end > start) {
      const fault = addPair(fields, text.slice(start, end));
      if (fault !== undefined) return fault;
    }
    start = end + 1;
  }
  return { value: fields.object };
}

function addPair(fields: FieldCollector, pair: string): Refused | undefined {
  const equals = pair.indexOf("=");
  const name = decode(equals === -1 ? pair : pair.slice(0, equals));
  const value = decode(equals === -1 ? "" : pair.slice(equals + 1));
  if (typeof name !== "string") return name;
  if (typeof value !== "string") return value;
  return fields.add(name, value);
}

/** @param part the bytes of a name or value, each as one character */
function decode(part: string): string | Refused {
  if (BAD_ESCAPE.test(part)) return malformedBody("form: `%` without two hexadecimal digits");
  const bytes = part.replaceAll("+", " ").replace(/%([0-9A-Fa-f]{2})/g, (_, digits: string) => {
    return String.fromCharCode(Number.parseInt(digits, 16));
  });
  const decoded = Buffer.from(bytes, "latin1");
  return isUtf8(decoded) ? decoded.toString("utf8") : refused("body_not_utf8");
}

/** Fields of a form, bounded in number. */
export class FieldCollector {
  readonly object: JsonObject = {};
  #count = 0;

  add(name: string, value: string): Refused | undefined {
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
