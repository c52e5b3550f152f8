import type { Scheme } from "../schemes/scheme.ts";
import {
  createTenantScheme,
  type SecretMismatch,
  type TenantSchemeOptions,
  type TenantSecrets,
} from "../schemes/tenant-scheme.ts";
import type { SourceEnvironment, SourceSettings } from "../source-definition.ts";
import { requiredTexts, type SecretOption } from "./given-secrets.ts";
import { type TenantProof, tenantSecrets } from "./tenants.ts";

export type MakeScheme = (secrets: readonly string[], environment: SourceEnvironment) => Scheme;

interface SecretUse {
  readonly settings: SourceSettings;
  /** The option that holds them. Default: `secret`. */
  readonly option?: string;
  /** How the scheme refuses what none of them has made. Default: `signature_mismatch`. */
  readonly mismatch?: SecretMismatch | undefined;
  /** Whether the signature covers the path. Default: false. */
  readonly signsPath?: boolean | undefined;
}

/** What a source has of its secrets. */
export interface SecretParts extends Omit<TenantProof, "preset"> {
  /** The texts that no log may show; those that verify come first, the current one at the head. */
  readonly secrets: readonly string[];
  /** @throws TypeError for a secret or a key that cannot be used */
  readonly scheme: (environment: SourceEnvironment) => Scheme;
}

/**
 * The secrets of a source, or those of its tenants, with a scheme that is made of nothing else.
 * @throws TypeError where none is set, or no path distinguishes the tenants
 */
export function secretParts(
  preset: string,
  given: SecretOption | TenantSecrets,
  { settings, option = "secret", mismatch, signsPath = false }: SecretUse,
  make: MakeScheme,
): SecretParts {
  const common = { signsPath, tenantOption: option };
  if (typeof given !== "function") {
    const secrets = requiredTexts(preset, given, option);
    return { ...common, secrets, scheme: (environment) => make(secrets, environment) };
  }
  return tenantParts(preset, given, { settings, option, mismatch, signsPath }, make);
}

/** The same for the tenants' secrets, or keys of another kind. @throws TypeError where no path distinguishes the tenants */
export function tenantParts<Secret>(
  preset: string,
  given: TenantSecrets<Secret>,
  use: SecretUse & Pick<TenantSchemeOptions<Secret>, "materialOf">,
  make: (secrets: readonly Secret[], environment: SourceEnvironment) => Scheme,
): SecretParts {
  const { settings, option = "secret", mismatch, signsPath = false, materialOf } = use;
  const secretsOf = tenantSecrets(preset, given, settings, option);
  return {
    ...{ signsPath, tenantOption: option, secrets: [], hasTenantSecrets: true },
    scheme: (environment) =>
      createTenantScheme<Secret>({
        ...{ ...environment, secretsOf, option, mismatch, signsPath, materialOf },
        make: (secrets) => make(secrets, environment),
      }),
  };
}
