import { createHash, createHmac } from "node:crypto";
import type { Finding } from "../../domain/index.ts";

/** The hash functions that platforms sign with, by how many bytes their digests have. */
export const ALGORITHMS: Readonly<Record<number, { readonly name: string; readonly label: string }>> = {
  16: { name: "md5", label: "MD5" },
  20: { name: "sha1", label: "SHA-1" },
  28: { name: "sha224", label: "SHA-224" },
  32: { name: "sha256", label: "SHA-256" },
  48: { name: "sha384", label: "SHA-384" },
  64: { name: "sha512", label: "SHA-512" },
};

export const SHA256_BYTES = 32;

export type Part = string | Uint8Array;

/** A way in which the signature may have been made, and what would be wrong then. */
export interface DigestCandidate {
  readonly findings: readonly Finding[];
  /** Whether a secret is in it, so that no stranger can have made it. */
  readonly isKeyed: boolean;
  /** How much is hashed to find out. */
  readonly bytes: number;
  /** Of this hash function alone, where it is not the one that the claimed digest's length tells. */
  readonly algorithm?: string;
  digest(algorithm: string): Uint8Array;
}

export function hmacOf(
  key: Part,
  parts: readonly Part[],
  findings: readonly Finding[],
  algorithm?: string,
): DigestCandidate {
  return {
    findings,
    isKeyed: true,
    bytes: lengthOf(parts),
    ...(algorithm === undefined ? {} : { algorithm }),
    digest: (name) => updated(createHmac(name, key), parts),
  };
}

/** A hash that is no HMAC. */
export function hashOf(
  parts: readonly Part[],
  findings: readonly Finding[],
  isKeyed: boolean,
): DigestCandidate {
  return {
    findings,
    isKeyed,
    bytes: lengthOf(parts),
    digest: (name) => updated(createHash(name), parts),
  };
}

function updated(
  hash: { update(part: Part): unknown; digest(): Uint8Array },
  parts: readonly Part[],
): Uint8Array {
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function lengthOf(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
