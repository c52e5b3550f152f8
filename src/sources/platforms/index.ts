/** `oncehook/sources`: the presets of platforms, for `sources` in oncehook.config.ts. */

import type { Preset } from "../presets/preset.ts";
import type { SecretOption } from "../presets/secrets.ts";
import * as functions from "./functions.ts";
import { functionOf, PRESET_NAMES, type PresetName } from "./names.ts";

export type { PublicKeyOptions } from "../presets/public-key-preset.ts";
export type { FixedSecretOptions, LearningOptions, PresetOptions, SecretOption } from "../presets/secrets.ts";
export type { StandardOptions } from "../presets/standard.ts";
export type { BasicOptions, VerifyOptions } from "../presets/token-preset.ts";
export type { SourceDefinition } from "../source-definition.ts";
export * from "./functions.ts";

type OfSecret = Preset<{ readonly secret: SecretOption }>;
type OfPublicKey = Preset<{ readonly publicKey: SecretOption }>;

const BY_FUNCTION = new Map<string, unknown>(Object.entries(functions));

/** Those that need nothing but a secret, which `SOURCES` may name. */
export const PRESETS = Object.fromEntries(
  PRESET_NAMES.map((name) => [name, ofSecret(BY_FUNCTION.get(functionOf(name)) as OfSecret | OfPublicKey)]),
) as Readonly<Record<PresetName, OfSecret>>;

function ofSecret(preset: OfSecret | OfPublicKey): OfSecret {
  if (!takesKey(preset)) return preset;
  const create = ({ secret, ...settings }: { readonly secret: SecretOption }) =>
    preset({ ...settings, publicKey: secret });
  return Object.assign(create, { describe: preset.describe });
}

function takesKey(preset: OfSecret | OfPublicKey): preset is OfPublicKey {
  return preset.describe().takesPublicKey === true;
}
