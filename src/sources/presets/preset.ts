import { type ContractData, createEventContract } from "../contract/event-contract.ts";
import { createSample } from "../contract/sample.ts";
import type { OwnSample } from "../contract/sample-draft.ts";
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

interface SourceParts extends Pick<SourceDefinition, "preset" | "facts" | "sign" | "credential"> {
  readonly settings: SourceSettings;
  /** The texts that no log may show. */
  readonly secrets: readonly string[];
  /** @throws TypeError for a secret or a key that cannot be used */
  readonly scheme: (environment: SourceEnvironment) => Scheme;
  readonly contract: ContractData;
  /** A callback in the platform's shape; without one it has what the contract reads, and nothing else. */
  readonly sample?: OwnSample | undefined;
}

const NOWHERE: SourceEnvironment = { name: "", clock: { now: () => new Date() }, origin: () => "" };

/**
 * A source of any scheme.
 * @throws TypeError that names the option that is wrong, here and not at the start: the stack names the configuration's line
 */
export function defineSource(parts: SourceParts): SourceDefinition {
  const { preset, facts, secrets, scheme, sign, credential } = parts;
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
    sample: createSample(contract, parts.sample),
    ...(sign !== undefined && { sign }),
    ...(credential !== undefined && { credential }),
  };
}

/** What an HMAC preset is made of; a part that depends on the options is a function of them. */
export interface HmacPreset<Options extends PresetOptions> {
  readonly preset: string;
  readonly facts: PlatformFacts;
  readonly scheme: HmacData | ((options: Options) => HmacData);
  readonly contract: ContractData | ((options: Options, secrets: readonly string[]) => ContractData);
  /** Texts beside the secret that no log may show, such as a verify token. @throws TypeError where one is missing */
  readonly otherSecrets?: (options: Options) => readonly string[];
  /** A callback in the platform's shape; without one it has what the contract reads, and nothing else. */
  readonly sample?: OwnSample;
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
      secrets: [...secrets, ...(data.otherSecrets?.(options) ?? [])],
      scheme: ({ clock, origin }) => createHmacScheme(scheme, { secrets, clock, origin }),
      contract: typeof data.contract === "function" ? data.contract(options, secrets) : data.contract,
      sample: data.sample,
      credential: `the header ${[scheme.signature.header].flat().join(" or ")}`,
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

const DURATION = /^(\d{1,5}(?:\.\d{1,3})?)(ms|s)$/;

/** @throws TypeError for an option of another kind */
function settingsOf(preset: string, { path, unhandled, answer }: SourceSettings): SourceSettings {
  if (path !== undefined && typeof path !== "string")
    throw new TypeError(`${preset}: \`path\`: expected a text`);
  if (unhandled !== undefined && unhandled !== "ignore" && unhandled !== "refuse") {
    const got = JSON.stringify(unhandled);
    throw new TypeError(`${preset}: \`unhandled\`: got ${got}, expected "ignore" or "refuse"`);
  }
  const within: unknown = typeof answer === "object" ? answer?.within : "1s";
  if (
    (answer !== undefined && typeof answer !== "object" && answer !== "inline" && answer !== "after") ||
    typeof within !== "string" ||
    !DURATION.test(within)
  ) {
    const got = JSON.stringify(answer);
    throw new TypeError(`${preset}: \`answer\`: got ${got}, expected "inline", "after" or { within: "2s" }`);
  }
  return {
    ...(path !== undefined && { path }),
    ...(unhandled !== undefined && { unhandled }),
    ...(answer !== undefined && { answer }),
  };
}
