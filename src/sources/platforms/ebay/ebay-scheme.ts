import type { KeyObject } from "node:crypto";
import { isJsonObject, type JsonObject, parseJson, type Refused } from "../../../domain/index.ts";
import { decodeExactly } from "../../formats/encoding.ts";
import type { SignedRequest } from "../../request.ts";
import { FetchedKeys, keysUnavailable } from "../../schemes/fetched-keys.ts";
import { requestKeys } from "../../schemes/key-request.ts";
import { isSignedBy, namedPublicKey } from "../../schemes/public-keys.ts";
import { malformed, missingCredential, refuse, type Scheme } from "../../schemes/scheme.ts";

export interface EbayCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Protocol and host of eBay's API, such as `https://api.ebay.com`. */
  readonly api: string;
}

export interface EbaySchemeOptions {
  /** Asked for a key that is not known; undefined where eBay has none by that id. It rejects where nothing can be said. */
  readonly fetchKey: (id: string) => Promise<string | undefined>;
  /** Keys that are known already, by their ids, as eBay's API shows them. */
  readonly publicKeys?: Readonly<Record<string, string>>;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

const HEADER = "X-EBAY-SIGNATURE";
const ALGORITHM = "ecdsa-p256-sha1";
const MAX_HEADER_LENGTH = 2_048;
const KEY_ID = /^[A-Za-z0-9-]{1,64}$/;

/**
 * eBay: `X-EBAY-SIGNATURE` is base64 of `{ alg, kid, signature, digest }`. The signature is ECDSA with SHA-1 over the
 * body by the key `kid`, which eBay's API hands out to applications.
 * @throws TypeError for a known key that cannot be read
 */
export function createEbayScheme({ fetchKey, publicKeys = {}, now }: EbaySchemeOptions): Scheme {
  const configuredKeys = new Map(Object.entries(publicKeys).map(([id, text]) => [id, readKey(text)]));
  const places = [...configuredKeys.keys()];
  const options = { name: "eBay", ...(now !== undefined && { now }) };
  const fetched = new FetchedKeys<KeyObject>(async (id) => {
    const text = await fetchKey(id);
    return text === undefined ? undefined : readKey(text);
  }, options);
  return {
    challenge: `Signature realm="callbacks", algorithm="${ALGORITHM}", header="${HEADER}"`,
    isCostly: true,
    async verify(request) {
      const claim = readClaim(request);
      if ("kind" in claim) return claim;
      const { id, signature } = claim;
      const key = configuredKeys.get(id) ?? (await fetched.get(id, request.bodyReservation).catch(keysUnavailable));
      if (key === undefined) return refuse("signature_mismatch", `\`${HEADER}\`: eBay has no such key`);
      if ("kind" in key) return key;
      if (isSignedBy(key, ALGORITHM, { content: [request.body], signature }))
        return { verified: [{ method: "public_key", index: Math.max(0, places.indexOf(id)) }] };
      return refuse("signature_mismatch", `\`${HEADER}\`: a body that was changed on the way`);
    },
  };
}

/** eBay's PEM has no line breaks. @throws TypeError */
function readKey(text: string): KeyObject {
  const bare = text.replaceAll(/-----(?:BEGIN|END) PUBLIC KEY-----|\s/g, "");
  return namedPublicKey({ option: "publicKeys" }, bare, ALGORITHM, "base64");
}

function readClaim({ headers }: SignedRequest): { id: string; signature: Buffer } | Refused {
  const [value = "", ...more] = headers[HEADER.toLowerCase()] ?? [];
  if (more.length > 0) return refuse("signature_repeated", `\`${HEADER}\`: expected once`);
  if (value === "") return missingCredential("signature_missing", `\`${HEADER}\`: missing`);
  const bytes = value.length > MAX_HEADER_LENGTH ? undefined : decodeExactly(value, "base64");
  const { alg, digest, kid, signature } = objectIn(bytes?.toString("utf8"));
  if (alg !== "ecdsa" || digest !== "SHA1") return malformedHeader("expected ecdsa and SHA1 in JSON in base64");
  if (typeof kid !== "string" || !KEY_ID.test(kid)) return malformedHeader("`kid`: expected the id of a key");
  const decoded = typeof signature === "string" ? decodeExactly(signature, "base64") : undefined;
  return decoded === undefined ? malformedHeader("`signature`: expected base64") : { id: kid, signature: decoded };
}

const malformedHeader = (detail: string): Refused => malformed(`\`${HEADER}\`: ${detail}`);

function objectIn(text: string | undefined): JsonObject {
  const value = parseJson(text ?? "");
  return isJsonObject(value) ? value : {};
}

const SCOPE = "https://api.ebay.com/oauth/api_scope";
const UNKNOWN_KEY = [400, 404];

/**
 * The public key of an id through eBay's Notification API, with an application token made for it. Keys are kept, so
 * that both are seldom asked for. Source: event-notification-nodejs-sdk `lib/client.js`.
 * @returns undefined where eBay has no such key @throws Error where it cannot be had
 */
export async function fetchEbayKey(
  id: string,
  { clientId, clientSecret, api }: EbayCredentials,
): Promise<string | undefined> {
  const credentials = Buffer.from(`${clientId}:${clientSecret}`).toString("base64");
  const granted = await requestKeys(`${api}/identity/v1/oauth2/token`, {
    method: "POST",
    headers: { authorization: `Basic ${credentials}`, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ grant_type: "client_credentials", scope: SCOPE }).toString(),
  });
  const { access_token: token } = objectIn(granted);
  if (typeof token !== "string") throw new Error("eBay's token endpoint gave no access_token");
  const response = await requestKeys(`${api}/commerce/notification/v1/public_key/${id}`, {
    headers: { authorization: `Bearer ${token}`, accept: "application/json" },
    absent: UNKNOWN_KEY,
  });
  if (response === undefined) return undefined;
  const { key, algorithm, digest } = objectIn(response);
  if (typeof key === "string" && algorithm === "ECDSA" && digest === "SHA1") return key;
  throw new Error("eBay's API answered with no ECDSA key for SHA1");
}
