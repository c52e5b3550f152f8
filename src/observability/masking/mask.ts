import type { JsonValue } from "../../domain/index.ts";
import { createBodyMask } from "./body-mask.ts";
import { createJsonMask } from "./json-mask.ts";
import { MaskBudget } from "./mask-limits.ts";
import { createParameterMask } from "./parameter-mask.ts";
import { createSecretPatterns, MASKED } from "./secret-patterns.ts";
import { SecretValues } from "./secret-values.ts";
import { mayBeCredential, sensitiveHeaders, sensitiveKeys, stateKeys } from "./sensitive-names.ts";
import { createPairMask, createTextMask, type TextMask } from "./text-mask.ts";

export interface MaskOptions {
  /** Header names and body keys on top of the built-in ones. */
  readonly headers?: readonly string[];
  readonly keys?: readonly string[];
  /** Body keys whose value is JSON in base64, which is masked inside. */
  readonly base64Keys?: readonly string[];
  /** The service's own secrets, masked wherever they turn up; those under 8 characters are passed over. */
  readonly secretValues?: SecretValues | readonly string[];
  /** Shows no header but those that never hold a credential, and no parameter of an address. Default: false. */
  readonly onlyHarmless?: boolean;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const MAX_HEADER_CHARACTERS = 1_024;
const MAX_HEADERS_CHARACTERS = 8_192;
const MAX_JSON_CHARACTERS = 65_536;

export type Mask = ReturnType<typeof createMask>;

/**
 * Takes secrets out of what is logged or stored for people to read (SPEC 1.8). Masking twice changes nothing. Whatever comes, the
 * work is bounded: what a body of 64 KiB costs at the most.
 */
export function createMask(options: MaskOptions) {
  const { headers = [], keys = [], base64Keys = [], secretValues = [], onlyHarmless = false } = options;
  const isSecretKey = sensitiveKeys(keys);
  const secrets = secretValues instanceof SecretValues ? secretValues : new SecretValues(secretValues);
  const patterns = createSecretPatterns(secrets);
  const pairs = createPairMask(isSecretKey);
  const text = createTextMask(pairs, patterns);
  const encoded = base64Keys.length === 0 ? undefined : new Set(base64Keys);
  const jsonText = createJsonMask({ isSecretKey, isStateKey: stateKeys(keys), base64Keys: encoded }, patterns, pairs);
  const { parameters, url } = createParameterMask(isSecretKey, patterns, text);
  const strictUrl = onlyHarmless ? createParameterMask(() => true, patterns, text).url : url;
  const body = createBodyMask(jsonText, parameters, text, patterns);
  const json = (value: JsonValue): JsonValue => {
    let given: string;
    try {
      given = JSON.stringify(value);
    } catch {
      // It nests deeper than the engine can write.
      return MASKED;
    }
    const shown = given.length > MAX_JSON_CHARACTERS ? undefined : jsonText(given, new MaskBudget());
    return JSON.parse(shown ?? body(Buffer.from(given), { isJson: true, maxBytes: 0 }));
  };
  return {
    /** Names as given, each value at most 1,024 characters long, 8,192 characters in all. */
    headers: createHeadersMask(onlyHarmless ? mayBeCredential : sensitiveHeaders(headers), text, secrets),
    /** An absolute URL, a request target, or whatever else came in its place; at most about 2,048 characters. */
    url: rememberingClean(strictUrl, secrets),
    /** A value that is too large is shown in part, as that of a body. */
    json,
    /** Error messages and stacks, cut to 16,384 characters or as many as are asked for. */
    text,
    /**
     * A body as it came, with its secrets masked: JSON or form text. Another body, or one that is too long or exceeds the budget,
     * becomes JSON. That has the length in bytes, the SHA-256 and, masked, the `text` or the first 2,048 characters as `start`.
     */
    body,
  };
}

/** Remembers the last text without a secret: successive callbacks have the same address and nearly the same headers. */
function rememberingClean(mask: (text: string) => string, secrets: SecretValues): (text: string) => string {
  let last = "";
  let known = secrets.longestFirst;
  return (text) => {
    if (text === last && known === secrets.longestFirst) return text;
    const shown = mask(text);
    if (shown === text) {
      last = text;
      known = secrets.longestFirst;
    }
    return shown;
  };
}

function createHeadersMask(isSecret: (name: string) => boolean, text: TextMask, secrets: SecretValues) {
  const masked = rememberingClean((values) => text(values, values.length), secrets);
  return (headers: Headers): Record<string, string> => {
    // Without a prototype a header such as __proto__ is one like the others.
    const shown: Record<string, string> = Object.create(null);
    let values = "";
    let characters = 0;
    let longest = 0;
    let dropped = 0;
    for (const name of Object.keys(headers)) {
      const value = headers[name];
      if (value === undefined) continue;
      const isHidden = isSecret(name.toLowerCase());
      const joined = isHidden ? MASKED : joinedValue(value);
      characters += name.length + Math.min(joined.length, MAX_HEADER_CHARACTERS);
      if (characters > MAX_HEADERS_CHARACTERS) {
        dropped += 1;
        continue;
      }
      if (!isHidden) values += `${joined}\n`;
      longest = Math.max(longest, joined.length);
      shown[name] = joined;
    }
    // A Referer may hold the code of a redirect, so values are read like any other text. All are read at once first,
    // since they are nearly always clean. A secret of one of them is found in all together too.
    const areClean = masked(values) === values;
    if (!areClean || longest > MAX_HEADER_CHARACTERS) {
      for (const [name, value] of Object.entries(shown)) {
        const isRead = value !== MASKED && (!areClean || value.length > MAX_HEADER_CHARACTERS);
        if (isRead) shown[name] = text(value, MAX_HEADER_CHARACTERS);
      }
    }
    if (dropped > 0) shown["(left out)"] = `${dropped} more`;
    return shown;
  };
}

function joinedValue(value: string | readonly string[]): string {
  if (typeof value === "string") return value;
  return value.length === 1 ? (value[0] as string) : value.join(", ");
}
