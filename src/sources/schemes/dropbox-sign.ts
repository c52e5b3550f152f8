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

/** A field of a form whose text is JSON; its documentation shows the JSON alone too. */
export const DROPBOX_SIGN_BODY: NonNullable<BodyData["body"]> = {
  byContentType: {
    "multipart/form-data": { multipart: "json" },
    "application/x-www-form-urlencoded": { form: "json" },
    "*": "json",
  },
};

/** Of one length: nothing stands between it and the type, and another cut would be another pair. */
const TIME = /^\d{10}$/;
const TYPE = /^[a-z_]{1,64}$/;
const HASH = /^[0-9a-f]{64}$/;

/**
 * Dropbox Sign signs `event_time` and `event_type`, which stand in the body: HMAC-SHA256, hex, in `event_hash`. All else is
 * not signed. The body is parsed before it is verified, which cannot be avoided.
 * @param secrets the API keys @throws TypeError for a key that is empty or has white space around it
 */
export function createDropboxSignScheme(secrets: readonly string[]): Scheme {
  const keys = keysOf(secrets).map((key) => createSecretKey(key));
  const decode = createBodyDecoder({ body: DROPBOX_SIGN_BODY });
  return {
    challenge: 'Signature realm="callbacks", algorithm="hmac-sha256", in="body"',
    verify(request) {
      if (request.body.length === 0) return missing("the body is empty");
      const decoded = decode(request);
      if (isRefused(decoded)) return malformed(`the body: ${decoded.code}`);
      const claimed = readEvent(decoded.value);
      if (isRefused(claimed)) return claimed;
      const index = keys.findIndex((key) => {
        const right = createHmac("sha256", key).update(claimed.signed).digest();
        return timingSafeEqual(claimed.hash, right);
      });
      if (index !== -1) return { verified: [{ method: "hmac", index }] };
      return refused("signature_mismatch", {
        detail: "`event.event_hash`: made with another API key, or over other than event_time and event_type",
      });
    },
  };
}

/** The body with its `event_hash`. @throws TypeError for an event without the time and type that it is made of */
export function signDropboxSign(body: JsonObject, secret: string): JsonObject {
  const event = isJsonObject(body.event) ? body.event : {};
  const { event_time: time, event_type: type } = event;
  if (typeof time !== "string" || !TIME.test(time) || typeof type !== "string" || !TYPE.test(type))
    throw new TypeError(
      "`event`: expected `event_time`, a text of ten digits, and `event_type`, lowercase letters and underscores",
    );
  const hash = createHmac("sha256", secret)
    .update(time + type)
    .digest("hex");
  return { ...body, event: { ...event, event_hash: hash } };
}

function readEvent(body: JsonValue): { readonly signed: string; readonly hash: Buffer } | Refused {
  const event = isJsonObject(body) ? ownValue(body, "event") : undefined;
  const hash = isJsonObject(event) ? ownValue(event, "event_hash") : undefined;
  if (!isJsonObject(event) || hash === undefined) return missing("`event.event_hash`: missing from the body");
  if (typeof hash !== "string" || !HASH.test(hash))
    return malformed("`event.event_hash`: expected 64 lowercase hexadecimal digits");
  const time = ownValue(event, "event_time");
  const type = ownValue(event, "event_type");
  if (typeof time !== "string" || !TIME.test(time))
    return malformed("`event.event_time`: expected a text of ten digits, seconds since the epoch");
  if (typeof type !== "string" || !TYPE.test(type))
    return malformed("`event.event_type`: expected lowercase letters and underscores");
  return { signed: time + type, hash: Buffer.from(hash, "hex") };
}

function missing(detail: string): Refused {
  return { ...missingCredential("signature_missing"), detail };
}

function malformed(detail: string): Refused {
  return refused("signature_malformed", { detail });
}
