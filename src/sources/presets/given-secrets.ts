import type { TenantSecrets } from "../schemes/tenant-scheme.ts";
import { refuseFunction } from "./tenants.ts";

/** One secret, or all of a rotation; those that are undefined are left out, so that an unset variable names none. */
export type SecretOption = string | undefined | readonly (string | undefined)[];

/**
 * The texts of an option that needs one: secrets, or what is set in the same way, such as topics.
 * @throws TypeError where none is set, and for a function of tenants
 */
export function requiredTexts(
  preset: string,
  given: SecretOption | TenantSecrets,
  option = "secret",
): string[] {
  refuseFunction(preset, option, given);
  const secrets = givenTexts(preset, given, option);
  if (secrets.length === 0) throw new TypeError(expectedSecret(preset, option, "none"));
  return secrets;
}

/** Those that are set; there may be none. @throws TypeError for what is no text, and for one in quotation marks */
export function givenTexts(preset: string, given: SecretOption | TenantSecrets, option = "secret"): string[] {
  const secrets = [given].flat().filter((secret) => secret !== undefined);
  const texts = secrets.filter((secret) => typeof secret === "string");
  const wrong = secrets.find((secret) => typeof secret !== "string");
  if (wrong !== undefined) throw new TypeError(expectedSecret(preset, option, typeof wrong));
  assertNoFault(preset, texts, (one) => (QUOTED.test(one) ? QUOTES : undefined), option);
  return texts;
}

/** `docker run --env-file` and others that read a file of variables without a shell keep the quotation marks. */
const QUOTED = /^(["'`]).*\1$/s;
const QUOTES = "got a text in quotation marks, which would be a part of it; remove them";

/** @throws TypeError that names the secret by its number, and never by its text */
export function assertNoFault(
  preset: string,
  secrets: readonly string[],
  faultOf: (secret: string) => string | undefined,
  option = "secret",
): void {
  for (const [index, secret] of secrets.entries()) {
    const fault = faultOf(secret);
    const number = secrets.length === 1 ? "" : ` ${index + 1} of ${secrets.length}`;
    if (fault !== undefined) throw new TypeError(`${preset}: \`${option}\`${number}: ${fault}`);
  }
}

function expectedSecret(preset: string, option: string, got: string): string {
  return `${preset}: \`${option}\`: got ${got}, expected what the platform shows; is its variable set?`;
}
