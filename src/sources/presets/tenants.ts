import { hasParameters } from "../../domain/index.ts";
import type { TenantSecrets } from "../schemes/tenant-scheme.ts";
import type { SourceSettings } from "../source-definition.ts";

/** @throws TypeError where no path distinguishes the tenants */
export function tenantSecrets<Secret>(
  preset: string,
  secret: TenantSecrets<Secret>,
  { path }: SourceSettings,
  option = "secret",
): TenantSecrets<Secret> {
  if (hasParameters(path)) return secret;
  throw new TypeError(
    `${preset}: \`${option}\`: got a function, expected \`path\` beside it with a parameter, such as /hooks/:tenant`,
  );
}

/**
 * @param reason such as `, since …`; left out where the documentation of the preset says it
 * @throws TypeError for a function of tenants, which this preset cannot ask
 */
export function refuseFunction(preset: string, option: string, given: unknown, reason = ""): void {
  if (typeof given !== "function") return;
  throw new TypeError(
    `${preset}: \`${option}\`: got a function, expected what the platform shows: this preset cannot have one for each ` +
      `tenant${reason}. Give each tenant a source of its own`,
  );
}

/**
 * A platform that sends its secret itself has no tenants: neither by a function nor by a path.
 * @param title the platform's @throws TypeError for either of them
 */
export function refuseTenants(preset: string, title: string, { secret, path }: LearningSettings): void {
  const reason = `${title} sends its secret itself, unsigned, so that any sender could set it for every tenant`;
  refuseFunction(preset, "secret", secret, `, since ${reason}`);
  if (!hasParameters(path)) return;
  throw new TypeError(
    `${preset}: \`path\`: got ${path}; ${reason}: expected a path without parameters. Give each tenant a source of its own`,
  );
}

interface LearningSettings extends SourceSettings {
  readonly secret?: unknown;
}

/** What distinguishes the tenants of a source, beside its path. */
export interface TenantProof {
  readonly preset: string;
  readonly hasTenantSecrets?: true;
  /** What is signed holds the request's path, so that a callback of one tenant is no callback of another. */
  readonly signsPath?: boolean | undefined;
  /** The option that may be a function of the path's parameters; left out where none may. */
  readonly tenantOption?: string | undefined;
}

/**
 * Where all tenants have one secret, and the path is not signed, a recorded callback is authentic under the name of each
 * tenant, also of a made-up one, and runs once for each.
 * @throws TypeError for parameters of the path that nothing proves
 */
export function assertTenantsApart(proof: TenantProof, { path }: SourceSettings): void {
  const { preset, hasTenantSecrets, signsPath, tenantOption } = proof;
  if (!hasParameters(path) || hasTenantSecrets === true || signsPath === true) return;
  const own =
    tenantOption === undefined ? "" : `\`${tenantOption}\` as a function that gives each tenant its own, or `;
  throw new TypeError(
    `${preset}: \`path\`: got ${path} with one secret for all tenants; the path is not signed, so that a ` +
      `recorded callback could be sent to every tenant: expected ${own}a path without parameters`,
  );
}
