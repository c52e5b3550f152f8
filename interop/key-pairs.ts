import { generateKeyPairSync, type KeyObject } from "node:crypto";

/** Three key pairs as a platform has them; the public ones take the place of a proof's secrets. */
export interface KeyPairs {
  readonly publicKeys: readonly [string, string, string];
  /** @throws where the public key is of none of them */
  privateKeyOf(publicKey: string): KeyObject;
}

/** @param encode a public key as the platform shows it */
export function keyPairs(type: "ed25519" | "p256" | "rsa", encode: (publicKey: KeyObject) => string): KeyPairs {
  const pairs = [0, 1, 2].map(() => generatePair(type));
  const [first = "", second = "", third = ""] = pairs.map(({ publicKey }) => encode(publicKey));
  return {
    publicKeys: [first, second, third],
    privateKeyOf(publicKey) {
      const pair = pairs.find((one) => encode(one.publicKey) === publicKey);
      if (pair === undefined) throw new Error("no such key pair");
      return pair.privateKey;
    },
  };
}

function generatePair(type: "ed25519" | "p256" | "rsa") {
  if (type === "ed25519") return generateKeyPairSync("ed25519");
  if (type === "rsa") return generateKeyPairSync("rsa", { modulusLength: 2_048 });
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

/** RFC 8410 §4: the 32 bytes at the end of an Ed25519 key's SubjectPublicKeyInfo. */
export function rawEd25519(publicKey: KeyObject): Buffer {
  return publicKey.export({ format: "der", type: "spki" }).subarray(-32);
}

export function spki(publicKey: KeyObject): Buffer {
  return publicKey.export({ format: "der", type: "spki" });
}
