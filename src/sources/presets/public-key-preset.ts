import { createPublicKeyScheme, type PublicKeyData } from "../schemes/public-key.ts";
import { coversPath } from "../schemes/signed-content.ts";
import type { TenantSecrets } from "../schemes/tenant-scheme.ts";
import type { SourceSettings } from "../source-definition.ts";
import type { PresetData } from "./describe.ts";
import type { SecretOption } from "./given-secrets.ts";
import { optionsPreset } from "./options-preset.ts";
import { secretParts } from "./secret-parts.ts";

export interface PublicKeyOptions extends SourceSettings {
  /**
   * As the platform shows it, or in PEM; several while it is rotated, the current one first: all of them verify. A function of
   * the path's parameters where each tenant has keys of its own.
   */
  readonly publicKey: SecretOption | TenantSecrets;
}

/** What a preset is made of whose platform signs with a private key. */
export interface PublicKeyPreset extends Omit<PresetData, "signs" | "own"> {
  readonly scheme: PublicKeyData;
}

/** The scheme of the keys, or of those of its tenants. @throws TypeError where none is set */
export function publicKeyParts(preset: string, scheme: PublicKeyData, options: PublicKeyOptions) {
  const use = { settings: options, option: "publicKey", signsPath: coversPath(scheme.signed) };
  return {
    ...secretParts(preset, options.publicKey, use, (keys, { clock, origin }) =>
      createPublicKeyScheme(scheme, { keys, clock, origin }),
    ),
    secrets: [],
    credential: { headers: [scheme.signature.header] },
  };
}

/**
 * A preset whose platform signs with a private key. Logs may show its public key.
 * @returns a function of the key and the source's settings @throws TypeError that names the option that is wrong
 */
export function publicKeyPreset(data: PublicKeyPreset) {
  const { preset, scheme } = data;
  return optionsPreset<PublicKeyOptions>({
    ...data,
    signs: scheme,
    own: { publicKey: "required" },
    make: (options) => publicKeyParts(preset, scheme, options),
  });
}
