import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import {
  isJsonObject,
  isRefused,
  type JsonObject,
  type JsonValue,
  ownValue,
  type Refused,
} from "../../domain/index.ts";
import { type BodyData, createBodyDecoder } from "../formats/body-formats.ts";
import { malformed, missingCredential, refuse, type Scheme } from "./scheme.ts";
import { keysOf } from "./secret-keys.ts";

interface SignedField {
  readonly name: string;
  /** Nothing stands between the fields: of one length but for the last, so that no other cut is another event. */
  readonly shape: RegExp;
  /** That shape, in words. */
  readonly expected: string;
}

/** How a platform signs some fields of the body's JSON, beside which the signature stands. */
export interface BodyHmac {
  readonly body: NonNullable<BodyData["body"]>;
  /** The property of the body that holds the fields. It may be the signature's name, beside which a form has them. */
  readonly at: string;
  readonly signed: readonly SignedField[];
  /** The fields of signatures, in lowercase hex; the first one must be there, and one that fits is enough. */
  readonly signatures: readonly string[];
}

const DIGEST = /^[0-9a-f]{64}$/;

/**
 * HMAC-SHA256 over some fields of the body, in a row. All else in it is not signed. The body is parsed before it is
 * verified, which cannot be avoided.
 * @returns a function of the secrets @throws TypeError for a key that is empty or has white space around it
 */
export function bodyHmacScheme(data: BodyHmac): (secrets: readonly string[]) => Scheme {
  const decode = createBodyDecoder(data);
  const [own] = data.signatures;
  const over = data.signed.map(({ name }) => name).join(" and ");
  const detail = `\`${data.at}.${own}\`: made with another key, or over other than ${over}`;
  return (secrets) => {
    const keys = keysOf(secrets).map((key) => createSecretKey(key));
    return {
      challenge: 'Signature realm="callbacks", algorithm="hmac-sha256", in="body"',
      verify(request) {
        if (request.body.length === 0) return missingCredential("signature_missing", "the body is empty");
        const decoded = decode(request);
        if (isRefused(decoded)) return malformed(`the body: ${decoded.code}`);
        const claimed = readClaims(decoded.value, data);
        if (isRefused(claimed)) return claimed;
        const index = keys.findIndex((key) => {
          const right = createHmac("sha256", key).update(claimed.signed).digest();
          return claimed.digests.filter((digest) => timingSafeEqual(digest, right)).length > 0;
        });
        return index === -1 ? refuse("signature_mismatch", detail) : { verified: [{ method: "hmac", index }] };
      },
    };
  };
}

/** The body with the signature of its fields. @throws TypeError for fields that the platform could not have sent */
export function signBodyHmac(data: BodyHmac, body: JsonObject, secret: string): JsonObject {
  const holder = ownValue(body, data.at);
  const fields = isJsonObject(holder) ? holder : {};
  const signed = signedText(fields, data);
  if (typeof signed !== "string") throw new TypeError(signed.detail);
  const [own = ""] = data.signatures;
  const signature = createHmac("sha256", secret).update(signed).digest("hex");
  return { ...body, [data.at]: { ...fields, [own]: signature } };
}

function readClaims(body: JsonValue, data: BodyHmac) {
  const { at, signatures } = data;
  const held = ownValue(body, at);
  const holder = typeof held === "string" && at === signatures[0] ? body : held;
  const claimed = signatures.map((name) => ownValue(holder, name));
  const [own] = claimed;
  if (holder === undefined || !isJsonObject(holder) || own === undefined)
    return missingCredential("signature_missing", `\`${at}.${signatures[0]}\`: missing from the body`);
  const signed = signedText(holder, data);
  if (typeof signed !== "string") return signed;
  const digests = claimed.filter((digest) => typeof digest === "string" && DIGEST.test(digest));
  if (!digests.includes(own)) return malformed(`\`${at}.${signatures[0]}\`: expected 64 lowercase hexadecimal digits`);
  return { signed, digests: digests.map((digest) => Buffer.from(String(digest), "hex")) };
}

/** Texts only: digits that a number rounds away would be in the event's id, but not in what was signed. */
function signedText(holder: JsonObject, { at, signed }: BodyHmac): string | Refused {
  const texts: string[] = [];
  for (const { name, shape, expected } of signed) {
    const text = ownValue(holder, name);
    if (typeof text !== "string" || !shape.test(text)) return malformed(`\`${at}.${name}\`: expected ${expected}`);
    texts.push(text);
  }
  return texts.join("");
}
