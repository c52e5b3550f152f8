import { type ContractData, createEventContract } from "../contract/event-contract.ts";
import { createHmacScheme } from "../schemes/hmac.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import type { Scheme } from "../schemes/scheme.ts";
import { signHmacRequest } from "../schemes/sign-hmac.ts";
import type {
  PlatformFacts,
  SourceDefinition,
  SourceEnvironment,
  SourceSettings,
} from "../source-definition.ts";

/** One secret, or all of a rotation; those that are undefined are left out, so that an unset variable names none. */
export type SecretOption = string | undefined | readonly (string | undefined)[];

export interface PresetOptions extends SourceSettings {
  /** As the platform shows it; several while it is rotated, the current one first: all of them verify. */
  readonly secret: SecretOption;
}

interface SourceParts extends Pick<SourceDefinition, "preset" | "facts" | "sign"> {
  readonly settings: SourceSettings;
  /** The texts that no log may show. */
  readonly secrets: readonly string[];
  /** @throws TypeError for a secret or a key that cannot be used */
  readonly scheme: (environment: SourceEnvironment) => Scheme;
  readonly contract: ContractData;
}

const NOWHERE: SourceEnvironment = { name: "", clock: { now: () => new Date() }, origin: () => "" };

/**
 * A source of any scheme.
 * @throws TypeError that names the option that is wrong, here and not at the start: the stack names the configuration's line
 */
export function defineSource(parts: SourceParts): SourceDefinition {
  const { preset, facts, secrets, scheme, sign } = parts;
  const settings = settingsOf(preset, parts.settings);
  const { unhandled } = settings;
  const contract = unhandled === undefined ? parts.contract : { ...parts.contract, unhandled };
  scheme(NOWHERE);
  createEventContract(contract, NOWHERE);
  return {
    preset,
    facts,
    settings,
    secrets,
    createScheme: scheme,
    createContract: (environment) => createEventContract(contract, environment),
    ...(sign !== undefined && { sign }),
  };
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
    const [current = ""] = secrets;
    return defineSource({
      preset,
      facts,
      settings: options,
      secrets,
      scheme: ({ clock, origin }) => createHmacScheme(scheme, { secrets, clock, origin }),
      contract: typeof data.contract === "function" ? data.contract(options, secrets) : data.contract,
      sign: (request) => signHmacRequest(scheme, { ...request, secret: current }),
    });
  };
}

/** @throws TypeError where none is set */
export function secretsOf(preset: string, given: SecretOption, option = "secret"): string[] {
  const secrets = [given].flat().filter((secret) => secret !== undefined);
  const wrong = secrets.find((secret) => typeof secret !== "string");
  if (wrong !== undefined || secrets.length === 0) {
    const got = wrong === undefined ? "none" : typeof wrong;
    throw new TypeError(
      `${preset}: \`${option}\`: got ${got}, expected what the platform shows; is its variable set?`,
    );
  }
  return secrets;
}

/** From the smallest to the largest that `MAX_BODY_BYTES` may be. */
const BODY_BYTES = [1_024, 67_108_864] as const;

/** What is wrong with each setting, in words that follow its name; undefined where nothing is. */
const SETTING_FAULTS: {
  readonly [Name in keyof SourceSettings]-?: (given: unknown) => string | undefined;
} = {
  path: (path) => (typeof path === "string" ? undefined : "expected a text"),
  unhandled: (unhandled) =>
    unhandled === "ignore" || unhandled === "refuse"
      ? undefined
      : `got ${JSON.stringify(unhandled)}, expected "ignore" or "refuse"`,
  maxBodyBytes(bytes) {
    const [least, most] = BODY_BYTES;
    const fits = Number.isInteger(bytes) && Number(bytes) >= least && Number(bytes) <= most;
    return fits ? undefined : `got ${String(bytes)}, expected a whole number from ${least} to ${most}`;
  },
};

/** The settings among a preset's options. */
function settingsOf(preset: string, options: SourceSettings): SourceSettings {
  const given = Object.entries(SETTING_FAULTS).flatMap(([name, faultOf]) => {
    const value = options[name as keyof SourceSettings];
    if (value === undefined) return [];
    const fault = faultOf(value);
    if (fault !== undefined) throw new TypeError(`${preset}: \`${name}\`: ${fault}`);
    return [[name, value] as const];
  });
  return Object.fromEntries(given);
}
