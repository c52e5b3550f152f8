import { durationMs, hasParameters, isTypePattern, retryFault, TYPE_PATTERN_EXPECTED } from "../../domain/index.ts";
import { identityFault } from "../contract/identity.ts";
import { OptionError, optionError } from "../option-error.ts";
import type { SourceSettings } from "../source-definition.ts";

/** From the smallest to the largest that `MAX_BODY_BYTES` may be. */
const BODY_BYTES = [1_024, 67_108_864] as const;

/** The fault of each setting, in words that follow its name; undefined for none. */
const SETTING_FAULTS: {
  readonly [Name in keyof SourceSettings]-?: (value: unknown, all: SourceSettings) => string | undefined;
} = {
  path: (path) => (typeof path === "string" ? undefined : "expected a text"),
  url(url, { path }) {
    const { protocol = "", search, hash, username } = URL.parse(String(url)) ?? {};
    if (!/^https?:$/.test(protocol) || search || hash || username)
      return `got ${JSON.stringify(url)}, expected an address such as "https://example.com/hooks/twilio", without a query`;
    return hasParameters(path) ? "got it with a path that has parameters: each tenant has another address" : undefined;
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
    Array.isArray(only) && only.length === 0 ? "got an empty list, which would ignore every event" : typesFault(only),
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
  keep: (keep) => (typeof keep === "string" ? undefined : 'expected a text, such as "30d", or "0"'),
  maxBodyBytes(bytes) {
    const [least, most] = BODY_BYTES;
    const fits = Number.isInteger(bytes) && Number(bytes) >= least && Number(bytes) <= most;
    return fits ? undefined : `got ${String(bytes)}, expected a whole number from ${least} to ${most}`;
  },
};

export const SETTING_NAMES = Object.keys(SETTING_FAULTS);

function eitherFault(value: unknown, one: string, other: string): string | undefined {
  if (value === one || value === other) return undefined;
  return `got ${JSON.stringify(value)}, expected "${one}" or "${other}"`;
}

/** @returns what is wrong with a list of types */
function typesFault(types: unknown): string | undefined {
  if (!Array.isArray(types)) return 'expected a list of event types, such as ["invoice.*"]';
  const wrong = types.findIndex((type) => !isTypePattern(type));
  if (wrong === -1) return undefined;
  return `got ${JSON.stringify(types[wrong])} at ${wrong}, ${TYPE_PATTERN_EXPECTED}`;
}

/** The settings among a preset's options. @throws OptionError for one of another kind */
export function settingsOf(options: SourceSettings): SourceSettings {
  const settings = Object.entries(SETTING_FAULTS).flatMap(([name, faultOf]) => {
    const value = options[name as keyof SourceSettings];
    if (value === undefined) return [];
    const problem = faultOf(value, options);
    if (problem !== undefined) throw new OptionError({ option: name, problem });
    return [[name, value] as const];
  });
  return Object.fromEntries(settings);
}

/** @throws OptionError for settings under which no listed id is the key of its event */
export function assertReconcilable({ path, identity = "id" }: SourceSettings): void {
  const wrong = hasParameters(path) ? "a path that has parameters" : `identity "${identity}"`;
  if (hasParameters(path) || identity !== "id")
    throw optionError("reconcile", `it with ${wrong}; the platform's list has ids only`);
}
