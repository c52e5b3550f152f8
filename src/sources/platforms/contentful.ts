import { escape as escapeQuery } from "node:querystring";
import { hmacPreset } from "../presets/hmac-preset.ts";
import type { SignedRequest } from "../request.ts";

const NAMES = "x-contentful-signed-headers";
const TIME = "x-contentful-timestamp";
const MAX_HEADERS = 64;
const MAX_LENGTH = 8_192;
const NAME = /^[\w.!#$%&'*+^`|~-]{1,128}$/;

/**
 * Contentful signs method, path, the headers that `x-contentful-signed-headers` names, and body, each on a line. The
 * SDK refuses what is older than 30 s. Whether a retry has a new time is not documented, so no age is checked here.
 * Source: node-apps-toolkit `src/requests/sign-request.ts`, `utils.ts`;
 * https://www.contentful.com/developers/docs/webhooks/request-verification/.
 */
export const contentful = hmacPreset("contentful", {
  docs: "https://www.contentful.com/developers/docs/webhooks/request-verification/",
  proof: "signs",
  identity: {
    why: "a duplicate has a recent idempotency key again, within a topic; without it the bytes are the key",
    source: "https://www.contentful.com/developers/changelog/idempotency-key-headers-for-webhook-requests/",
  },
  key: (secret) => (/^[\w+/=-]{64}$/.test(secret) ? Buffer.from(secret, "utf8") : undefined),
  signature: { header: "x-contentful-signature", encoding: "hex" },
  signed: "{method}\n{target}\n{headers}\n{body}",
  parts: { target: signedAddress, headers: signedHeaders },
  timestamp: { header: TIME, unit: "milliseconds", toleranceSeconds: null },
  id: ["{header.X-Contentful-Idempotency-Key}:{header.X-Contentful-Topic}", "sha256"],
  type: "header.X-Contentful-Topic",
  headers: ["X-Contentful-Topic", "X-Contentful-Webhook-Name"],
});

/** Path and query, encoded as the SDK does, which encodes a query as a whole, and `%` once more. */
function signedAddress({ target }: SignedRequest): string | undefined {
  const [path = "", query = ""] = target.split("?", 2);
  try {
    return encodeURI(query === "" ? path : `${path}?${escapeQuery(query)}`);
  } catch {
    return undefined;
  }
}

/** `name:value;name:value` in the order of the names. */
function signedHeaders({ headers }: SignedRequest): string | undefined {
  const [list = "", ...more] = headers[NAMES] ?? [];
  if (more.length > 0 || list.length > MAX_LENGTH) return undefined;
  const names = list.split(",");
  const isList = names.length <= MAX_HEADERS && names.every((name) => NAME.test(name));
  // The headers' names and the time must be signed too.
  if (!isList || !names.includes(NAMES) || !names.includes(TIME)) return undefined;
  const lines: string[] = [];
  for (const name of names.toSorted()) {
    const [value, ...others] = (Object.hasOwn(headers, name) ? headers[name] : undefined) ?? [];
    if (value === undefined || others.length > 0 || value.length > MAX_LENGTH) return undefined;
    lines.push(`${name}:${value.trim()}`);
  }
  return lines.join(";");
}
