import { createHash, createHmac, createSecretKey, type Hash, type Hmac } from "node:crypto";
import type { MacAlgorithm } from "./hmac-data.ts";

/** The place of the secret in the content of a plain hash. */
export const SECRET = Symbol("secret");

/** A text stands for bytes, one a character (latin1), as Node gives headers. */
export type Piece = string | Uint8Array | typeof SECRET;

/** The bytes that are hashed; a single body needs no list. */
export type Content = Uint8Array | readonly Piece[];

export const DIGEST_BYTES: Readonly<Record<MacAlgorithm, number>> = {
  sha1: 20,
  sha256: 32,
  sha512: 64,
  "plain-sha1": 20,
  "plain-sha256": 32,
};

export function isPlain(algorithm: MacAlgorithm): algorithm is "plain-sha1" | "plain-sha256" {
  return algorithm.startsWith("plain-");
}

export function createDigester(algorithm: MacAlgorithm, secret: Uint8Array): (content: Content) => Buffer {
  if (isPlain(algorithm)) {
    const name = algorithm.slice("plain-".length);
    return (content) => feed(createHash(name), content, secret).digest();
  }
  const key = createSecretKey(secret);
  return (content) => feed(createHmac(algorithm, key), content, secret).digest();
}

function feed(hash: Hash | Hmac, content: Content, secret: Uint8Array): Hash | Hmac {
  if (content instanceof Uint8Array) return hash.update(content);
  for (const piece of content) {
    if (piece === SECRET) hash.update(secret);
    else if (typeof piece === "string") hash.update(piece, "latin1");
    else hash.update(piece);
  }
  return hash;
}
