import { hasParameters } from "../../domain/index.ts";
import { OptionError, optionError } from "../option-error.ts";
import { isUsable, learningScheme } from "../schemes/learnt-secrets.ts";
import type { Scheme } from "../schemes/scheme.ts";
import {
  createTenantScheme,
  type SecretMismatch,
  type TenantSchemeOptions,
  type TenantSecrets,
} from "../schemes/tenant-scheme.ts";
import type { SourceEnvironment, SourceSettings } from "../source-definition.ts";

/** One secret, or all of a rotation. Those that are undefined are left out, so that an unset variable names none. */
export type SecretOption = string | undefined | readonly (string | undefined)[];

export interface PresetOptions extends SourceSettings {
  /**
   * As the platform shows it; several while it is rotated, the current one first: all of them verify. A function of the
   * path's parameters where each tenant has secrets of its own: `path: "/hooks/:shop"`, `secret: ({ params }) => …`.
   */
  readonly secret: SecretOption | TenantSecrets;
}

/** Options of a preset that needs its secret for more than to verify. So its tenants cannot have their own. */
export interface FixedSecretOptions extends SourceSettings {
  /** As the platform shows it; several while it is rotated, the current one first: all of them verify. */
  readonly secret: SecretOption;
}

/** Options of a platform that chooses its secret itself, and sends it when the address is registered. */
export interface LearningOptions extends SourceSettings {
  /** One that is known already. */
  readonly secret?: SecretOption;
}

type MakeScheme<Secret = string> = (secrets: readonly Secret[], environment: SourceEnvironment) => Scheme;

interface SecretUse {
  readonly settings: SourceSettings;
  /** The option that holds them. Default: `secret`. */
  readonly option?: string;
  /** How the scheme refuses what none of them has made. Default: `signature_mismatch`. */
  readonly mismatch?: SecretMismatch | undefined;
  /** Whether the signature covers the path. Default: false. */
  readonly signsPath?: boolean | undefined;
}

/** The secrets of a source, of either kind: fixed, of tenants, or learnt. */
export interface SecretParts {
  /** The texts that no log may show; those that verify come first, the current one at the head. */
  readonly secrets: readonly string[];
  /** @throws OptionError for a secret or a key that cannot be used */
  readonly scheme: (environment: SourceEnvironment) => Scheme;
  readonly hasTenantSecrets?: true;
  /** The signed text holds the request's path, so that a callback of one tenant is no callback of another. */
  readonly signsPath?: boolean | undefined;
  /** The option that may be a function of the path's parameters; left out where none may. */
  readonly tenantOption?: string | undefined;
  /** Whether a scheme can be made with a secret that the platform sends; every one when left out. */
  readonly isUsable?: (secret: string) => boolean;
}

/** A source's fixed secrets, or its tenants'. @throws OptionError where none is set, or no path has tenants */
export function secretParts(given: SecretOption | TenantSecrets, use: SecretUse, make: MakeScheme): SecretParts {
  if (typeof given === "function") return tenantParts(given, use, make);
  const { option = "secret", signsPath = false } = use;
  const secrets = requiredTexts(given, option);
  return {
    ...{ signsPath, tenantOption: option, secrets },
    scheme: (environment) => make(secrets, environment),
  };
}

/** Secrets, or keys of another kind, of each tenant. @throws OptionError where no path distinguishes the tenants */
export function tenantParts<Secret>(
  secretsOf: TenantSecrets<Secret>,
  use: SecretUse & Pick<TenantSchemeOptions<Secret>, "materialOf">,
  make: MakeScheme<Secret>,
): SecretParts {
  const { settings, option = "secret", mismatch, signsPath = false, materialOf } = use;
  if (!hasParameters(settings.path))
    throw optionError(option, "a function", "`path` beside it with a parameter, such as /hooks/:tenant");
  return {
    ...{ signsPath, tenantOption: option, secrets: [], hasTenantSecrets: true },
    scheme: (environment) =>
      createTenantScheme<Secret>({
        ...{ ...environment, secretsOf, option, mismatch, signsPath, materialOf },
        make: (secrets) => make(secrets, environment),
      }),
  };
}

/**
 * Secrets that the platform sends, beside those that are known already. They cannot be of tenants.
 * @param compile throws for a secret that cannot be used
 */
export function learntParts(
  given: SecretOption | TenantSecrets,
  { title, settings: { path } }: { readonly title: string; readonly settings: SourceSettings },
  { make, compile }: { readonly make: MakeScheme; readonly compile: (secrets: readonly string[]) => unknown },
): SecretParts {
  const reason = `${title} sends its secret itself, unsigned, so that any sender could set it for every tenant`;
  refuseFunction(given, "secret", `, since ${reason}`);
  if (hasParameters(path))
    throw new OptionError({
      option: "path",
      problem: `got ${path}; ${reason}: expected a path without parameters. Give each tenant a source of its own`,
    });
  const secrets = givenTexts(given);
  return {
    secrets,
    isUsable: (secret) => isUsable(secret, compile),
    scheme: (environment) => learningScheme(environment.learning, secrets, (all) => make(all, environment)),
  };
}

/**
 * The texts of an option that needs one: secrets, or what is set in the same way, such as topics.
 * @throws OptionError where none is set, and for a function of tenants
 */
export function requiredTexts(given: SecretOption | TenantSecrets, option = "secret"): string[] {
  refuseFunction(given, option);
  const texts = givenTexts(given, option);
  if (texts.length === 0) throw missingSecret(option, "none");
  return texts;
}

const missingSecret = (option: string, got: string) =>
  optionError(option, got, "what the platform shows; is its variable set?");

/** `docker run --env-file` and others that read a file of variables without a shell keep the quotation marks. */
const QUOTED = /^(["'`]).*\1$/s;
const QUOTES = { got: "a text in quotation marks, which would be a part of it; remove them" };

/** The secrets that are set, possibly none. @throws OptionError for what is no text, and for one in quotation marks */
function givenTexts(given: SecretOption | TenantSecrets, option = "secret"): string[] {
  const values = [given].flat().filter((value) => value !== undefined);
  const texts = values.filter((value) => typeof value === "string");
  const wrong = values.find((value) => typeof value !== "string");
  if (wrong !== undefined) throw missingSecret(option, typeof wrong);
  assertNoFault(texts, (text) => (QUOTED.test(text) ? QUOTES : undefined), option);
  return texts;
}

/** @throws OptionError that names the secret by its number, and never by its text */
export function assertNoFault(
  secrets: readonly string[],
  faultOf: (secret: string) => { readonly got: string; readonly expected?: string } | undefined,
  option = "secret",
): void {
  for (const [index, secret] of secrets.entries()) {
    const fault = faultOf(secret);
    if (fault !== undefined) throw new OptionError({ option, place: { index, of: secrets.length }, ...fault });
  }
}

/**
 * @param reason such as `, since …`; left out where the documentation of the preset says it
 * @throws OptionError for a function of tenants, which this preset cannot ask
 */
export function refuseFunction(given: unknown, option: string, reason = ""): void {
  if (typeof given !== "function") return;
  throw optionError(
    option,
    "a function",
    `what the platform shows: this preset cannot have one for each tenant${reason}. ` +
      "Give each tenant a source of its own",
  );
}

/**
 * With one secret for all tenants and an unsigned path, a recorded callback is authentic under each tenant's name. That
 * includes made-up names, and the callback would run once for each.
 * @throws OptionError for parameters of the path that nothing proves
 */
export function assertTenantsApart(
  { hasTenantSecrets, signsPath, tenantOption }: Omit<SecretParts, "secrets" | "scheme">,
  { path }: SourceSettings,
): void {
  if (!hasParameters(path) || hasTenantSecrets === true || signsPath === true) return;
  const remedy =
    tenantOption === undefined ? "" : `\`${tenantOption}\` as a function that gives each tenant its own, or `;
  throw optionError(
    "path",
    `${path} with one secret for all tenants; the path is not signed, so that a ` +
      `recorded callback could be sent to every tenant: expected ${remedy}a path without parameters`,
  );
}
