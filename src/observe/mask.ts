import type { JsonValue } from "../domain/index.ts";
import { createBodyMask } from "./body-mask.ts";
import { createJsonMask } from "./json-mask.ts";
import { createParameterMask } from "./parameter-mask.ts";
import { createShapeMask, MASKED } from "./secret-shapes.ts";
import { sensitiveHeaders, sensitiveKeys } from "./sensitive-names.ts";
import { createTextMask } from "./text-mask.ts";

export interface MaskOptions {
  /** Header names and body keys on top of the built-in ones. */
  readonly headers?: readonly string[];
  readonly keys?: readonly string[];
  /** The service's own secrets, masked wherever they turn up; those under 8 characters are passed over. */
  readonly secretValues?: readonly string[];
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Takes secrets out of what is logged or stored for people to read (SPEC 1.8). Masking twice changes nothing. */
export interface Mask {
  /** Names as given, each value at most 1,024 characters long. */
  headers(headers: Headers): Record<string, string>;
  /** An absolute URL, a request target, or whatever else came in its place. */
  url(url: string): string;
  json(value: JsonValue): JsonValue;
  /** Error messages and stacks, cut to 65,536 characters. */
  text(text: string): string;
  /**
   * A body: masked JSON or form text; where it is neither, JSON with its length in bytes and its SHA-256. Masked
   * text over 64 KiB is cut to its first 2,048 characters, in JSON of the same kind.
   */
  body(bytes: Uint8Array): string;
  /** The same for a body of JSON that was parsed already. */
  parsed(value: JsonValue, bytes: Uint8Array): string;
}

const MAX_HEADER_CHARACTERS = 1_024;

export function createMask({ headers = [], keys = [], secretValues = [] }: MaskOptions): Mask {
  const isSecretKey = sensitiveKeys(keys);
  const shapes = createShapeMask(secretValues);
  const text = createTextMask({ isSecretKey, shapes });
  const json = createJsonMask({ isSecretKey, shapes });
  const { parameters, url } = createParameterMask({ isSecretKey, shapes, text });
  const { body, parsed } = createBodyMask({ json, parameters });
  return { headers: createHeadersMask(sensitiveHeaders(headers), text), url, json, text, body, parsed };
}

function createHeadersMask(isSecret: (name: string) => boolean, text: Mask["text"]): Mask["headers"] {
  return (headers) => {
    const shown: [string, string][] = [];
    let values = "";
    for (const [name, value] of Object.entries(headers)) {
      if (value === undefined) continue;
      const isHidden = isSecret(name.toLowerCase());
      const joined = isHidden ? MASKED : typeof value === "string" ? value : value.join(", ");
      if (!isHidden) values += `${joined}\n`;
      shown.push([name, joined]);
    }
    // A Referer may hold the code of a redirect, so that values are read like any other text: all at once first, since
    // they are clean nearly always, and what would be found in one is found in all of them too.
    const areClean = text(values) === values;
    for (const pair of shown) {
      if (pair[1] !== MASKED && !areClean) pair[1] = text(pair[1]);
      pair[1] = pair[1].slice(0, MAX_HEADER_CHARACTERS);
    }
    // fromEntries defines a key such as __proto__ instead of assigning through it.
    return Object.fromEntries(shown);
  };
}
