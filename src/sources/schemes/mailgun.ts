import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import {
  isJsonObject,
  isRefused,
  type JsonObject,
  type JsonValue,
  ownValue,
  type Refused,
  refused,
} from "../../domain/index.ts";
import { type BodyData, createBodyDecoder } from "../contract/body-formats.ts";
import { missingCredential, type Scheme } from "./scheme.ts";
import { keysOf } from "./secret-keys.ts";
import { formatTimestamp } from "./timestamp.ts";

/** A webhook is JSON; a route forwards a mail as a form, and as a multipart one where it has attachments. */
export const MAILGUN_BODY: NonNullable<BodyData["body"]> = {
  byContentType: {
    "multipart/form-data": "multipart",
    "application/x-www-form-urlencoded": "form",
    "*": "json",
  },
};

/** What Mailgun puts beside the event, in the body's `signature`. */
interface MailgunSignature {
  readonly signed: string;
  /** By the account's own key, and for a subaccount by the primary account's. */
  readonly digests: readonly Buffer[];
}

/** Of one length: nothing stands between it and the token, and another cut would make an accepted token a new one. */
const TIMESTAMP = /^\d{10}$/;
/** Random, 50 characters long; they are a part of an event's id. */
const TOKEN = /^[\x21-\x7e]{16,128}$/;
const DIGEST = /^[0-9a-f]{64}$/;

/**
 * Mailgun signs `timestamp` and `token`, which stand in the body: HMAC-SHA256, hex. The event beside them is not
 * signed, so that a reader of one callback can change it; the token must be accepted once. The body is parsed before
 * it is verified, which cannot be avoided. `parent-signature` is made with the key of the primary account. Source:
 * Mailgun, "Securing webhooks".
 * @param secrets the webhook signing keys @throws TypeError for a key that is empty or has white space around it
 */
export function createMailgunScheme(secrets: readonly string[]): Scheme {
  const keys = keysOf(secrets).map((key) => createSecretKey(key));
  const decode = createBodyDecoder({ body: MAILGUN_BODY });
  return {
    challenge: 'Signature realm="callbacks", algorithm="hmac-sha256", in="body"',
    verify(request) {
      if (request.body.length === 0) return missing("the body is empty");
      const decoded = decode(request);
      if (isRefused(decoded)) return malformed(`the body: ${decoded.code}`);
      const claimed = readSignature(decoded.value);
      if (isRefused(claimed)) return claimed;
      const index = keys.findIndex((key) => {
        const right = createHmac("sha256", key).update(claimed.signed).digest();
        return claimed.digests.filter((digest) => timingSafeEqual(digest, right)).length > 0;
      });
      if (index !== -1) return { verified: [{ method: "hmac", index }] };
      return refused("signature_mismatch", {
        detail: "`signature.signature`: made with another key, or over other than timestamp and token",
      });
    },
  };
}

/** The body with its `signature`, for the token that stands in it. @throws TypeError for one that Mailgun refuses */
export function signMailgun(body: JsonObject, secret: string, now: Date): JsonObject {
  const token = isJsonObject(body.signature) ? textOf(body.signature, "token", TOKEN) : undefined;
  if (token === undefined)
    throw new TypeError("`signature.token`: expected 16 to 128 characters, the event's id");
  const timestamp = formatTimestamp(now, "seconds");
  const signature = createHmac("sha256", secret)
    .update(timestamp + token)
    .digest("hex");
  return { ...body, signature: { timestamp, token, signature } };
}

function readSignature(body: JsonValue): MailgunSignature | Refused {
  const signature = ownValue(body, "signature");
  if (signature === undefined) return missing("`signature`: missing from the body");
  // In a form its fields are among the event's.
  const found = typeof signature === "string" ? body : signature;
  if (!isJsonObject(found)) return malformed("`signature`: expected an object");
  const timestamp = textOf(found, "timestamp", TIMESTAMP);
  const token = textOf(found, "token", TOKEN);
  const own = textOf(found, "signature", DIGEST);
  if (timestamp === undefined)
    return malformed("`signature.timestamp`: expected ten digits, seconds since the epoch");
  if (token === undefined) return malformed("`signature.token`: expected 16 to 128 characters");
  if (own === undefined) return malformed("`signature.signature`: expected 64 lowercase hexadecimal digits");
  const parent = textOf(found, "parent-signature", DIGEST);
  const digests = [own, parent].flatMap((digest) => (digest === undefined ? [] : Buffer.from(digest, "hex")));
  return { signed: timestamp + token, digests };
}

/** A text alone: digits that a number rounds away would be in the event's id, but not in what was signed. */
function textOf(object: JsonObject, name: string, shape: RegExp): string | undefined {
  const text = Object.hasOwn(object, name) ? object[name] : undefined;
  return typeof text === "string" && shape.test(text) ? text : undefined;
}

function missing(detail: string): Refused {
  return { ...missingCredential("signature_missing"), detail };
}

function malformed(detail: string): Refused {
  return refused("signature_malformed", { detail });
}
