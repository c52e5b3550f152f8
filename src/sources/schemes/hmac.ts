import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import { type Clock, type Refused, refused } from "../../domain/index.ts";
import { missingCredential, type Scheme, type SignedRequest } from "./scheme.ts";

const HEX_DIGEST = /^[0-9a-f]{64}$/;
const WHOLE_SECONDS = /^\d{1,11}$/;
const CHALLENGE = 'Signature realm="callbacks", algorithm="hmac-sha256"';

export interface HmacOptions {
  /** The current secret first, then the previous one while it is being rotated out; a text means its UTF-8 bytes. */
  readonly secrets: readonly (string | Uint8Array)[];
  /** How far `X-Timestamp` may lie from now, both ways; null switches the check off. */
  readonly toleranceSeconds: number | null;
  readonly clock: Clock;
}

/** The signature `X-Signature` of these bytes: HMAC-SHA256, lowercase hex (SPEC 5.2). */
export function signHmac(secret: string, body: Uint8Array): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

/** The default scheme (SPEC 5.2): the raw bytes are signed, and nothing but the bytes. */
export function createHmacScheme({ secrets, toleranceSeconds, clock }: HmacOptions): Scheme {
  const keys = secrets.map((secret) => createSecretKey(Buffer.from(secret)));
  return {
    challenge: CHALLENGE,
    verify(request) {
      const claimed = claimedDigest(request);
      if (!Buffer.isBuffer(claimed)) return claimed;
      const signer = keys.findIndex((key) => timingSafeEqual(digest(key, request.body), claimed));
      if (signer === -1) return refused("signature_mismatch");
      const stale = toleranceSeconds === null ? undefined : staleness(request, toleranceSeconds, clock);
      return stale ?? { verified: [{ method: "hmac", index: signer }] };
    },
  };
}

function digest(key: KeyObject, body: Uint8Array): Buffer {
  return createHmac("sha256", key).update(body).digest();
}

/** The shape is checked before decoding: `Buffer.from(…, "hex")` silently stops at the first bad digit. */
function claimedDigest({ headers }: SignedRequest): Buffer | Refused {
  const values = headers["x-signature"] ?? [];
  const [value] = values;
  if (value === undefined || value === "") return missingCredential("signature_missing");
  if (values.length > 1) return refused("signature_repeated");
  if (!HEX_DIGEST.test(value)) return refused("signature_malformed");
  return Buffer.from(value, "hex");
}

/** `X-Timestamp` is not signed: this keeps out stale deliveries, while the record keeps out replays. */
function staleness({ headers }: SignedRequest, tolerance: number, clock: Clock): Refused | undefined {
  const values = headers["x-timestamp"] ?? [];
  const [value = ""] = values;
  if (values.length !== 1 || !WHOLE_SECONDS.test(value)) return refused("timestamp_missing");
  const distance = Math.abs(clock.now().getTime() / 1000 - Number(value));
  return distance > tolerance ? refused("timestamp_stale") : undefined;
}
