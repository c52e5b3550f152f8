import type { Preset } from "../presets/describe.ts";
import type { SecretOption } from "../presets/given-secrets.ts";
import * as functions from "./functions.ts";
import { functionOf, PRESET_NAMES, type PresetName } from "./names.ts";

type OfSecret = Preset<{ readonly secret: SecretOption }>;
type Found = OfSecret | (Preset<{ readonly publicKey: SecretOption }> & { readonly takesPublicKey: true });

const BY_FUNCTION = new Map<string, unknown>(Object.entries(functions));

/** Those that need nothing but a secret, which `SOURCES` may name. */
export const PRESETS = Object.fromEntries(
  PRESET_NAMES.map((name) => [name, ofSecret(BY_FUNCTION.get(functionOf(name)) as Found)]),
) as Readonly<Record<PresetName, OfSecret>>;

/** A platform with a private key has its public one in the place of a secret. */
function ofSecret(preset: Found): OfSecret {
  if (!("takesPublicKey" in preset)) return preset;
  const create = ({ secret, ...settings }: { readonly secret: SecretOption }) =>
    preset({ ...settings, publicKey: secret });
  return Object.assign(create, { describe: preset.describe });
}
