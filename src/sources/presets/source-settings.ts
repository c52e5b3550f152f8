import {
  closestOption,
  durationMs,
  hasParameters,
  isTypePattern,
  retryFault,
  TYPE_PATTERN_EXPECTED,
} from "../../domain/index.ts";
import { identityFault } from "../contract/identity.ts";
import type { SourceSettings } from "../source-definition.ts";
import type { PresetData } from "./describe.ts";

/** From the smallest to the largest that `MAX_BODY_BYTES` may be. */
const BODY_BYTES = [1_024, 67_108_864] as const;

/** What is wrong with each setting, in words that follow its name; undefined where nothing is. */
const SETTING_FAULTS: {
  readonly [Name in keyof SourceSettings]-?: (given: unknown, all: SourceSettings) => string | undefined;
} = {
  path: (path) => (typeof path === "string" ? undefined : "expected a text"),
  url(url, { path }) {
    const { protocol = "", search, hash, username } = URL.parse(String(url)) ?? {};
    if (!/^https?:$/.test(protocol) || search || hash || username)
      return `got ${JSON.stringify(url)}, expected an address such as "https://example.com/hooks/twilio", without a query`;
    return hasParameters(path)
      ? "got it with a path that has parameters: each tenant has another address"
      : undefined;
  },
  unhandled: (unhandled) => eitherFault(unhandled, "ignore", "refuse"),
  invalid: (invalid) => eitherFault(invalid, "accept", "refuse"),
  identity: identityFault,
  answer(answer) {
    const within = typeof answer === "object" && answer !== null && "within" in answer ? answer.within : "1s";
    const isMode = typeof answer === "object" || answer === "inline" || answer === "after";
    if (isMode && answer !== null && durationMs(within) >= 0) return undefined;
    return `got ${JSON.stringify(answer)}, expected "inline", "after" or { within: "2s" }`;
  },
  only: (only) =>
    Array.isArray(only) && only.length === 0
      ? "got an empty list, which would ignore every event"
      : typesFault(only),
  ignore: typesFault,
  filter: (filter) =>
    typeof filter === "function" ? undefined : "expected a function of an event that returns true or false",
  retry: retryFault,
  // The configuration reads what they say.
  rate: (rate) => (typeof rate === "string" ? undefined : 'expected a text, such as "600/minute"'),
  addresses: (addresses) =>
    Array.isArray(addresses) && addresses.every((one) => typeof one === "string")
      ? undefined
      : "expected a list of texts",
  maxBodyBytes(bytes) {
    const [least, most] = BODY_BYTES;
    const fits = Number.isInteger(bytes) && Number(bytes) >= least && Number(bytes) <= most;
    return fits ? undefined : `got ${String(bytes)}, expected a whole number from ${least} to ${most}`;
  },
};

export const SETTING_NAMES = Object.keys(SETTING_FAULTS);

function eitherFault(given: unknown, one: string, other: string): string | undefined {
  if (given === one || given === other) return undefined;
  return `got ${JSON.stringify(given)}, expected "${one}" or "${other}"`;
}

/** @returns what is wrong with a list of types */
function typesFault(types: unknown): string | undefined {
  if (!Array.isArray(types)) return 'expected a list of event types, such as ["invoice.*"]';
  const wrong = types.findIndex((type) => !isTypePattern(type));
  if (wrong === -1) return undefined;
  return `got ${JSON.stringify(types[wrong])} at ${wrong}, ${TYPE_PATTERN_EXPECTED}`;
}

/**
 * Plain JavaScript has no compiler to say it, and TypeScript that Node runs neither.
 * @throws TypeError for what is no object of options, and for an option that is unknown
 */
export function assertOptionNames(
  preset: string,
  options: object,
  own: NonNullable<PresetData["own"]>,
): void {
  assertKnown(preset, options, [...Object.keys(own), ...SETTING_NAMES]);
}

/** @throws TypeError for what is no object, and for an option that is unknown */
export function assertKnown(preset: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null) {
    const got = options === undefined ? "none" : `a ${typeof options}`;
    throw new TypeError(`${preset}: options: got ${got}, expected an object such as { ${known[0]}: … }`);
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = closestOption(unknown, known);
  const hint = meant === undefined ? `there are ${known.join(", ")}` : `did you mean ${meant}?`;
  throw new TypeError(`${preset}: \`${unknown}\`: no such option; ${hint}`);
}

/** The settings among a preset's options. @throws TypeError for one of another kind */
export function settingsOf(preset: string, options: SourceSettings): SourceSettings {
  const given = Object.entries(SETTING_FAULTS).flatMap(([name, faultOf]) => {
    const value = options[name as keyof SourceSettings];
    if (value === undefined) return [];
    const fault = faultOf(value, options);
    if (fault !== undefined) throw new TypeError(`${preset}: \`${name}\`: ${fault}`);
    return [[name, value] as const];
  });
  return Object.fromEntries(given);
}

/** @throws TypeError for settings under which no listed id is the key of its event */
export function assertReconcilable(preset: string, { path, identity = "id" }: SourceSettings): void {
  const wrong = hasParameters(path) ? "a path that has parameters" : `identity "${identity}"`;
  if (hasParameters(path) || identity !== "id")
    throw new TypeError(`${preset}: \`reconcile\`: got it with ${wrong}; the platform's list has ids only`);
}
