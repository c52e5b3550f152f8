import type { TenantSecrets } from "../schemes/tenant-scheme.ts";
import { refuseFunction } from "./tenants.ts";

/** One secret, or all of a rotation; those that are undefined are left out, so that an unset variable names none. */
export type SecretOption = string | undefined | readonly (string | undefined)[];

/** @throws TypeError where none is set */
export function secretsOf(preset: string, given: SecretOption | TenantSecrets, option = "secret"): string[] {
  refuseFunction(preset, option, given);
  const secrets = givenSecrets(preset, given, option);
  if (secrets.length === 0) throw new TypeError(expectedSecret(preset, option, "none"));
  return secrets;
}

/** Those that are set, none of them in quotation marks. @throws TypeError for what is no text */
export function givenSecrets(
  preset: string,
  given: SecretOption | TenantSecrets,
  option = "secret",
): string[] {
  const secrets = [given].flat().filter((secret) => secret !== undefined);
  const texts = secrets.filter((secret) => typeof secret === "string");
  const wrong = secrets.find((secret) => typeof secret !== "string");
  if (wrong !== undefined) throw new TypeError(expectedSecret(preset, option, typeof wrong));
  assertNoFault(preset, texts, (one) => (QUOTED.test(one) ? QUOTES : undefined), option);
  return texts;
}

/** A file of variables that no shell reads keeps them, as `docker run --env-file` does. */
const QUOTED = /^(["'`]).*\1$/s;
const QUOTES = "got a text in quotation marks, which would be a part of it; remove them";

/** @throws TypeError that names the secret by its place, and not by its text */
export function assertNoFault(
  preset: string,
  secrets: readonly string[],
  faultOf: (secret: string) => string | undefined,
  option = "secret",
): void {
  for (const [at, secret] of secrets.entries()) {
    const fault = faultOf(secret);
    const place = secrets.length === 1 ? "" : ` ${at + 1} of ${secrets.length}`;
    if (fault !== undefined) throw new TypeError(`${preset}: \`${option}\`${place}: ${fault}`);
  }
}

function expectedSecret(preset: string, option: string, got: string): string {
  return `${preset}: \`${option}\`: got ${got}, expected what the platform shows; is its variable set?`;
}
