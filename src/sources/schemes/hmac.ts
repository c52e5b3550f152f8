import { createHmac, timingSafeEqual } from "node:crypto";
import { type Clock, isRefused } from "../../domain/index.ts";
import { OptionError, optionError } from "../option-error.ts";
import { compileClaims } from "./claimed-signatures.ts";
import type { HmacData } from "./hmac-data.ts";
import { createDigester, isPlain } from "./keyed-digest.ts";
import { quoted, refuse, type Scheme } from "./scheme.ts";
import { indexedKeysOf } from "./secret-keys.ts";
import { compileContent } from "./signed-content.ts";
import { compileTimestamp, type SentTimestamp } from "./timestamp.ts";

export interface HmacOptions {
  /** The current secret first, then those that are being rotated out. Bytes are the key, whatever the format. */
  readonly secrets: readonly (string | Uint8Array)[];
  readonly clock: Clock;
  /** Scheme and host that the platform has registered, without a path; asked where `{url}` is signed. */
  readonly origin?: () => string;
}

/** The signature `X-Signature` of these bytes: HMAC-SHA256, lowercase hex (SPEC 5.2). */
export function signHmac(secret: string, body: Uint8Array): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

/**
 * Signatures with a shared secret, as the data has them. Everything is compiled here: a callback costs one digest of
 * each secret up to the one that fits. Each claimed signature is compared with it in constant time.
 * @throws TypeError for data that contradicts itself, and for a secret that cannot be the key
 */
export function createHmacScheme(data: HmacData, { secrets, clock, origin }: HmacOptions): Scheme {
  const { algorithm = "sha256", signed } = data;
  const { readClaims, content, time } = compileHmacData(data, origin);
  const digesters = indexedKeysOf(secrets, data.key).map(({ key, index }) => ({
    digest: createDigester(algorithm, key),
    index,
  }));
  const signedTime = content.hasTimestamp ? time : undefined;
  const mismatch = `${quoted([data.signature.header].flat())}: made with another secret, or over other than ${signed}`;
  return {
    challenge: challengeOf(data),
    verify(request) {
      const claims = readClaims(request.headers);
      if (!("digests" in claims)) return claims;
      let sent: SentTimestamp | undefined;
      if (signedTime !== undefined) {
        const read = signedTime.read(request.headers, claims.timestamp);
        if (!("text" in read)) return read;
        sent = read;
      }
      const bytes = content.read?.(request, sent?.text) ?? request.body;
      if (!Buffer.isBuffer(bytes) && isRefused(bytes)) return bytes;
      const match = digesters.find(({ digest }) => isAmong(claims.digests, digest(bytes)));
      if (match === undefined) return refuse("signature_mismatch", mismatch);
      if (time?.staleness !== undefined) {
        const read = sent ?? time.read(request.headers, claims.timestamp);
        const stale = "text" in read ? time.staleness(read, clock.now()) : read;
        if (stale !== undefined) return stale;
      }
      const verified = [{ method: "hmac", index: match.index }] as const;
      if (content.read === undefined) return { verified };
      return {
        verified,
        signedText: (body, hasTime) => content.text(request, body, hasTime ? (sent?.text ?? "") : undefined),
      };
    },
  };
}

/** All are compared, so that the time does not show which one is right. */
const isAmong = (digests: readonly Buffer[], right: Buffer): boolean =>
  digests.map((one) => timingSafeEqual(one, right)).includes(true);

/** The parts that follow from the data, and from no secret. @throws OptionError for data that contradicts itself */
export function compileHmacData(data: HmacData, origin: HmacOptions["origin"]) {
  const { algorithm = "sha256", signed } = data;
  const readClaims = compileClaims(data);
  const content = compileContent(signed, { origin, parts: data.parts });
  const time = compileTimestamp(data);
  if (content.hasTimestamp && time === undefined)
    throw optionError("signed", `{timestamp} in ${JSON.stringify(signed)}`, "`timestamp` beside it");
  if (content.holdsKey !== isPlain(algorithm))
    throw new OptionError({
      option: "signed",
      problem: `{secret} must stand in what a plain hash signs, and in nothing else; got ${algorithm}`,
    });
  return { readClaims, content, time };
}

function challengeOf({ algorithm = "sha256", signature }: HmacData): string {
  const name = isPlain(algorithm) ? algorithm : `hmac-${algorithm}`;
  return `Signature realm="callbacks", algorithm="${name}", header="${[signature.header].flat().join(" ")}"`;
}
