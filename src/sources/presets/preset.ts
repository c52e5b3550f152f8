import { type ContractData, createEventContract } from "../contract/event-contract.ts";
import { createHmacScheme } from "../schemes/hmac.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import { signHmacRequest } from "../schemes/sign-hmac.ts";
import type { PlatformFacts, SourceDefinition, SourceSettings } from "../source-definition.ts";

/** One secret, or all of a rotation; those that are undefined are left out, so that an unset variable names none. */
export type SecretOption = string | undefined | readonly (string | undefined)[];

export interface PresetOptions extends SourceSettings {
  readonly secret: SecretOption;
}

/** What an HMAC preset is made of; a part that depends on the options is a function of them. */
export interface HmacPreset<Options extends PresetOptions> {
  readonly preset: string;
  readonly facts: PlatformFacts;
  readonly scheme: HmacData | ((options: Options) => HmacData);
  readonly contract: ContractData | ((options: Options, secrets: readonly string[]) => ContractData);
}

/**
 * A preset whose platform signs with a shared secret.
 * @returns a function of the secret and the source's settings @throws TypeError that names the option that is wrong
 */
export function hmacPreset<Options extends PresetOptions = PresetOptions>(
  data: HmacPreset<Options>,
): (options: Options) => SourceDefinition {
  const { preset, facts } = data;
  return (options) => {
    const secrets = secretsOf(preset, options.secret);
    const scheme = typeof data.scheme === "function" ? data.scheme(options) : data.scheme;
    const contract = typeof data.contract === "function" ? data.contract(options, secrets) : data.contract;
    const [current = ""] = secrets;
    // A secret that cannot be the key is refused here, where the stack names the configuration's line.
    createHmacScheme(scheme, { secrets, clock: { now: () => new Date() }, origin: () => "" });
    return {
      preset,
      facts,
      settings: settingsOf(preset, options),
      secrets,
      createScheme: ({ clock, origin }) => createHmacScheme(scheme, { secrets, clock, origin }),
      createContract: (environment) => createEventContract(withSettings(contract, options), environment),
      sign: (request) => signHmacRequest(scheme, { ...request, secret: current }),
    };
  };
}

/** @throws TypeError where none is set */
export function secretsOf(preset: string, given: SecretOption): string[] {
  const secrets = [given].flat().filter((secret) => secret !== undefined);
  const wrong = secrets.find((secret) => typeof secret !== "string");
  if (wrong !== undefined || secrets.length === 0) {
    const got = wrong === undefined ? "none" : typeof wrong;
    throw new TypeError(
      `${preset}: \`secret\`: got ${got}, expected the secret that the platform shows; is its variable set?`,
    );
  }
  return secrets;
}

/** @throws TypeError for an option of another kind */
export function settingsOf(preset: string, { path, unhandled }: SourceSettings): SourceSettings {
  if (path !== undefined && typeof path !== "string")
    throw new TypeError(`${preset}: \`path\`: expected a text`);
  if (unhandled !== undefined && unhandled !== "ignore" && unhandled !== "refuse")
    throw new TypeError(
      `${preset}: \`unhandled\`: got ${JSON.stringify(unhandled)}, expected "ignore" or "refuse"`,
    );
  return { ...(path !== undefined && { path }), ...(unhandled !== undefined && { unhandled }) };
}

/** What the user set takes the place of the platform's own. */
export function withSettings(contract: ContractData, { unhandled }: SourceSettings): ContractData {
  return unhandled === undefined ? contract : { ...contract, unhandled };
}
