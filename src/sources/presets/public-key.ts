import { createPublicKeyScheme, type IdentifiedKey, type PublicKeyData } from "../schemes/public-key.ts";
import { SIGNATURE_ALGORITHMS } from "../schemes/public-keys.ts";
import { coversPath } from "../schemes/signed-content.ts";
import type { SourceDefinition, SourceSettings } from "../source-definition.ts";
import { assertOneOf, assertOptions, assertText, contractOf, type OwnContract } from "./own-source.ts";
import { defineSource, type SecretOption, secretsOf } from "./preset.ts";

/** A sender that signs with a private key, whose public one it shows. */
export interface PublicKeySourceOptions extends SourceSettings, OwnContract, PublicKeyData {
  /**
   * PEM of a key or a certificate, or as `key` says; several while they are rotated, the current one first. By their ids
   * where `keyId` names the header that says which.
   */
  readonly publicKey: SecretOption | Readonly<Record<string, string | undefined>>;
}

const SCHEME = ["algorithm", "key", "keyId", "signature", "signed", "timestamp"] as const;
const OWN = ["publicKey", ...SCHEME];
const ENCODINGS = ["hex", "base64", "base64url"];

/** Ed25519, ECDSA or RSA over a template of body, headers and address. @throws TypeError that names what is wrong */
export function publicKey(options: PublicKeySourceOptions): SourceDefinition {
  assertOptions("publicKey", options, OWN);
  const { algorithm, signature, signed } = options;
  assertOneOf("publicKey", "algorithm", algorithm, SIGNATURE_ALGORITHMS);
  assertText("publicKey", "signature.header", signature?.header, "X-Acme-Signature");
  assertOneOf("publicKey", "signature.encoding", signature.encoding, ENCODINGS);
  assertText("publicKey", "signed", signed, "{timestamp}.{body}");
  const data = Object.fromEntries(SCHEME.map((name) => [name, options[name]])) as unknown as PublicKeyData;
  const keys = keysOf(options);
  return defineSource({
    preset: "public-key",
    facts: { title: "Public key", docs: "docs/sources.md", proof: "own" },
    settings: options,
    secrets: [],
    scheme: ({ clock, origin }) => createPublicKeyScheme(data, { keys, clock, origin }),
    contract: contractOf(options, OWN),
    signsPath: coversPath(signed),
  });
}

function keysOf({ publicKey: given, keyId }: PublicKeySourceOptions): (string | IdentifiedKey)[] {
  if (keyId === undefined) {
    if (typeof given === "object" && !Array.isArray(given))
      throw new TypeError("publicKey: `keyId`: got none, expected the header that names one of the keys");
    return secretsOf("publicKey", given as SecretOption, "publicKey");
  }
  if (typeof given !== "object" || Array.isArray(given))
    throw new TypeError(
      "publicKey: `publicKey`: expected keys by their ids, such as { key-1: pem }, with `keyId`",
    );
  return Object.entries(given).map(([id, key]) => {
    const [text = ""] = secretsOf("publicKey", key, `publicKey.${id}`);
    return { id, key: text };
  });
}
