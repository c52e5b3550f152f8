import { OptionError, wrongOption } from "../option-error.ts";
import { isJson } from "../presets/hmac-preset.ts";
import { assertOneOf, assertText } from "../presets/options.ts";
import { type OwnContract, ownSource } from "../presets/own-source.ts";
import { requiredTexts, type SecretOption, type SecretParts, secretParts } from "../presets/secrets.ts";
import {
  compilePublicKeyData,
  createPublicKeyScheme,
  type IdentifiedKey,
  type PublicKeyData,
} from "../schemes/public-key.ts";
import { SIGNATURE_ALGORITHMS } from "../schemes/public-keys.ts";
import type { Scheme } from "../schemes/scheme.ts";
import { coversAddress, coversPath, signedPlaces } from "../schemes/signed-content.ts";
import type { TenantSecrets } from "../schemes/tenant-scheme.ts";
import type { SourceDefinition, SourceEnvironment, SourceSettings } from "../source-definition.ts";

/** A sender that signs with a private key, whose public one it shows. */
export interface PublicKeySourceOptions extends SourceSettings, OwnContract, PublicKeyData {
  /**
   * PEM of a key or a certificate, or as `key` says; several while they are rotated, the current one first. By their ids
   * where `keyId` names the header that says which. A function of the path's parameters, without `keyId`, where each tenant has
   * keys of its own.
   */
  readonly publicKey: SecretOption | Readonly<Record<string, string | undefined>> | TenantSecrets;
}

const SCHEME = ["algorithm", "key", "keyId", "signature", "signed", "timestamp"] as const;
const KIND = { preset: "public-key", title: "Public key", schemeOptions: ["publicKey", ...SCHEME] };
const ENCODINGS = ["hex", "base64", "base64url"];

/** Ed25519, ECDSA or RSA over a template of body, headers and address. @throws OptionError that names the wrong option */
export function publicKey(options: PublicKeySourceOptions): SourceDefinition {
  return ownSource(KIND, options, (contract) => {
    const { algorithm, signature, signed } = options;
    assertOneOf("algorithm", algorithm, SIGNATURE_ALGORITHMS);
    assertText("signature.header", signature?.header, "X-Acme-Signature");
    assertOneOf("signature.encoding", signature.encoding, ENCODINGS);
    assertText("signed", signed, "{timestamp}.{body}");
    const make = (keys: readonly (string | IdentifiedKey)[], { clock, origin }: SourceEnvironment) =>
      createPublicKeyScheme(options, { keys, clock, origin });
    return {
      ...keyParts(options, make),
      secrets: [],
      signsAddress: coversAddress(signed),
      credential: { headers: [signature.header] },
      contract: { ...contract, signs: signedPlaces(signed, isJson(contract)) },
    };
  });
}

function keyParts(
  options: PublicKeySourceOptions,
  make: (keys: readonly (string | IdentifiedKey)[], environment: SourceEnvironment) => Scheme,
): SecretParts {
  const { publicKey: given, keyId, signed } = options;
  const signsPath = coversPath(signed);
  if (keyId === undefined) {
    if (typeof given === "object" && !Array.isArray(given))
      throw wrongOption("keyId", undefined, "the header that names one of the keys");
    const use = { settings: options, option: "publicKey", signsPath };
    // Keys of tenants come later, and the data is looked at now.
    compilePublicKeyData(options, () => "");
    return secretParts(given as SecretOption | TenantSecrets, use, make);
  }
  if (typeof given !== "object" || Array.isArray(given))
    throw new OptionError({ option: "publicKey", expected: "keys by their ids, such as { key-1: pem }, with `keyId`" });
  const keys = Object.entries(given).map(([id, key]) => {
    const [text = ""] = requiredTexts(key, `publicKey.${id}`);
    return { id, key: text };
  });
  return { secrets: [], signsPath, scheme: (environment) => make(keys, environment) };
}
