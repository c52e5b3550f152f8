import { createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import type { JwtAlgorithm } from "./jwt-keys.ts";

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g;
const BOUNDARY = /-----(BEGIN|END)/g;
const PRIVATE = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/;
/** RFC 7518 §3.3 and §3.5. */
const LEAST_RSA_BITS = 2_048;

/**
 * Public keys or certificates in PEM, one or several in a text, the current one first.
 * @throws Error when there is none, or one that cannot be used with this algorithm
 */
export function pemKeys(text: string, algorithm: JwtAlgorithm): KeyObject[] {
  if (PRIVATE.test(text)) throw new Error("holds a private key; expected the public one alone");
  const blocks = [...text.matchAll(BLOCK)];
  // A key that was cut off would be left out in silence, and what it signed be refused.
  if ((text.match(BOUNDARY)?.length ?? 0) !== 2 * blocks.length) {
    throw new Error("holds a PEM block that is not complete; expected BEGIN, base64 and END of one name");
  }
  if (blocks.length === 0) throw new Error("holds no PEM block; expected a public key or a certificate");
  return blocks.map(([block, label = ""], index) => {
    const key = read(block, label, index);
    const got = misfit(key, algorithm);
    if (got === undefined) return key;
    throw new Error(
      `block ${index + 1}: got ${got}, expected ${expectedWith(algorithm)} for JWT_ALGORITHM=${algorithm}`,
    );
  });
}

function read(block: string, label: string, index: number): KeyObject {
  try {
    return label === "CERTIFICATE" ? new X509Certificate(block).publicKey : createPublicKey(block);
  } catch (cause) {
    throw new Error(`block ${index + 1} (${label}) cannot be read as a public key or a certificate`, {
      cause,
    });
  }
}

function expectedWith(algorithm: JwtAlgorithm): string {
  if (algorithm === "ES256") return "an EC key on P-256";
  if (algorithm === "EdDSA") return "an Ed25519 key";
  return `an RSA key of at least ${LEAST_RSA_BITS} bits`;
}

/** What a key is, where it is not one of the algorithm's. */
function misfit(key: KeyObject, algorithm: JwtAlgorithm): string | undefined {
  const { asymmetricKeyType: type = "a secret", asymmetricKeyDetails: { namedCurve, modulusLength } = {} } =
    key;
  const fits = {
    HS256: false,
    RS256: type === "rsa" && (modulusLength ?? 0) >= LEAST_RSA_BITS,
    // WebCrypto, which verifies, takes no key of the type rsa-pss.
    PS256: type === "rsa" && (modulusLength ?? 0) >= LEAST_RSA_BITS,
    ES256: type === "ec" && namedCurve === "prime256v1",
    EdDSA: type === "ed25519",
  }[algorithm];
  if (fits) return undefined;
  return [type, namedCurve, modulusLength === undefined ? undefined : `${modulusLength} bits`]
    .filter((part) => part !== undefined)
    .join(" ");
}
