import { compilePublicKeyData, createPublicKeyScheme, type PublicKeyData } from "../schemes/public-key.ts";
import { coversAddress, coversPath } from "../schemes/signed-content.ts";
import type { TenantSecrets } from "../schemes/tenant-scheme.ts";
import type { SourceSettings } from "../source-definition.ts";
import { optionsPreset, type Platform } from "./preset.ts";
import { type SecretOption, secretParts } from "./secrets.ts";

export interface PublicKeyOptions extends SourceSettings {
  /**
   * As the platform shows it, or in PEM. Several while it is rotated, the current one first: all of them verify. A
   * function of the path's parameters where each tenant has keys of its own.
   */
  readonly publicKey: SecretOption | TenantSecrets;
}

/** The scheme of the keys, or of those of its tenants. @throws OptionError where none is set */
export function publicKeyParts(scheme: PublicKeyData, options: PublicKeyOptions) {
  // Keys of tenants come later, and the data is looked at now.
  compilePublicKeyData(scheme, () => "");
  const use = { settings: options, option: "publicKey", signsPath: coversPath(scheme.signed) };
  return {
    ...secretParts(options.publicKey, use, (keys, { clock, origin }) =>
      createPublicKeyScheme(scheme, { keys, clock, origin }),
    ),
    secrets: [],
    signsAddress: coversAddress(scheme.signed),
    credential: { headers: [scheme.signature.header] },
  };
}

/**
 * A preset whose platform signs with a private key. Logs may show its public key.
 * @returns a function of the key and the source's settings @throws OptionError that names the option that is wrong
 */
export function publicKeyPreset(preset: string, data: Platform & PublicKeyData) {
  return optionsPreset<PublicKeyOptions>(preset, {
    ...data,
    signs: data,
    options: { publicKey: "required" },
    make: (options) => publicKeyParts(data, options),
  });
}
