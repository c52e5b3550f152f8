import { closestName, endpointPaths, OAUTH, PLATFORM, pathsOverlap } from "../domain/index.ts";
import {
  LEARNING_PRESETS,
  moreThanSecret,
  PRESET_NAMES,
  type PresetName,
  type SourceDefinition,
} from "../sources/index.ts";
import type { OAUTH_VARIABLES } from "./oauth.ts";
import type { Environment, Problems, Reading } from "./read-variables.ts";
import type { LIMIT_VARIABLES, SERVER_VARIABLES } from "./server.ts";
import type { TextSchema } from "./text-schema.ts";
import { cidrs, keepTime, list, type RateLimit, rateLimit, type VariableTable } from "./variable.ts";

export const SOURCE_VARIABLES = {
  SOURCES: { schema: list("names of presets, separated by commas, such as stripe,github"), default: "" },
} satisfies VariableTable;

/** A source of the environment: its preset is loaded at the start. */
export interface PresetSource {
  readonly name: PresetName;
  /** The current one first. */
  readonly secrets: readonly string[];
}

/** A source of the configuration file. */
export interface NamedSource {
  readonly name: string;
  readonly definition: SourceDefinition;
  /** In the place of what holds for all sources; undefined where the source has none of its own. */
  readonly limits: SourceLimits;
}

export interface SourceLimits {
  /** Null: off. */
  readonly rate?: RateLimit | null;
  /** CIDR networks. */
  readonly addresses?: readonly string[];
  /** How long originals are kept, in milliseconds; 0: not at all. */
  readonly keep?: number;
}

type SourceReading = Reading<typeof SOURCE_VARIABLES & typeof LIMIT_VARIABLES & typeof OAUTH_VARIABLES>;

/** The sources beside the built-in protocol. */
export function sourcesOf(
  { values, problems }: SourceReading,
  env: Environment,
  sources: Readonly<Record<string, SourceDefinition>> = {},
) {
  const named = Object.entries(sources).map(([name, definition]): NamedSource => {
    return { name, definition, limits: limitsOf(name, definition, problems) };
  });
  const presets = values.SOURCES.flatMap((name) => presetSource(name, env, problems));
  for (const [at, { name }] of presets.entries()) {
    if (presets.findIndex((other) => other.name === name) < at) problems.add(["SOURCES"], `names ${name} twice`);
    if (named.some((other) => other.name === name))
      problems.add(["SOURCES"], `names ${name}, which oncehook.config.ts configures already; leave it out here`);
  }
  checkAddresses([...named, ...presets], values.OAUTH_SCOPE_PATH, problems);
  const { MAX_UNVERIFIED_BYTES: all } = values;
  for (const { name, definition } of named) {
    const { maxBodyBytes = 0 } = definition.settings;
    if (maxBodyBytes <= all) continue;
    const expected = `at least the maxBodyBytes of sources.${name} (${maxBodyBytes})`;
    const message = `got ${all}, expected ${expected}, so that a body of that size can arrive`;
    problems.add(["MAX_UNVERIFIED_BYTES"], message);
  }
  return { named, presets };
}

/** Without a listener, nothing but `CALLBACK_BASE_URL` says at which address a platform reaches an application. */
export function checkSignedAddresses(
  { named }: ReturnType<typeof sourcesOf>,
  { values, problems }: Pick<Reading<typeof SERVER_VARIABLES>, "values" | "problems">,
): void {
  if (values.CALLBACK_BASE_URL !== undefined) return;
  for (const { name, definition } of named.filter((one) => one.definition.signsAddress))
    problems.add(
      [`sources.${name}`],
      `${definition.facts.title} signs the address that is registered there, and nothing says which one it is: set baseUrl, or ` +
        "CALLBACK_BASE_URL, to the https address of the application, with the path of the mount",
      ["CALLBACK_BASE_URL"],
    );
}

/** Of two sources at one address, one would get the callbacks of both and refuse those of the other. */
function checkAddresses(
  sources: readonly (PresetSource | NamedSource)[],
  oauthScopePath: string,
  problems: Problems,
): void {
  const paths = sources.map((one) => ({
    source: one.name,
    path: "definition" in one ? one.definition.settings.path : undefined,
  }));
  const { callbacks, ...reserved } = endpointPaths("", oauthScopePath, { sources: paths });
  const others = Object.values(reserved).map((path) => ({ source: undefined, path }));
  for (const [at, { source, path }] of paths.entries()) {
    if (path === undefined) continue;
    // Of two chosen paths the later one is reported, once.
    const later = new Set(paths.slice(at).flatMap((one) => (one.path === undefined ? [] : [one.source])));
    const taken = [...callbacks, ...others].find(
      (other) => !(other.source && later.has(other.source)) && pathsOverlap(path, other.path),
    );
    if (taken === undefined) continue;
    const whose = taken.source === undefined ? "Oncehook itself" : `the source ${taken.source}`;
    const how = taken.path === path ? `is an address of ${whose} as well` : `overlaps ${taken.path} of ${whose}`;
    problems.add([`sources.${source}.path`], `${path} ${how}; choose another path`);
  }
}

function limitsOf(name: string, { settings }: SourceDefinition, problems: Problems): SourceLimits {
  const read = <Value>(setting: string, text: string | undefined, schema: TextSchema<Value>) => {
    if (text === undefined) return {};
    const value = schema.read(text);
    if (value !== undefined) return { [setting]: value };
    const got = `got ${JSON.stringify(text)}, expected ${schema.description}`;
    problems.add([`sources.${name}.${setting}`], got);
    return {};
  };
  return {
    ...read("rate", settings.rate, rateLimit),
    ...read("addresses", settings.addresses?.join(","), someCidrs),
    ...read("keep", settings.keep, keepTime),
  };
}

/** An empty list would refuse everybody. */
const someCidrs = cidrs.refine(({ length }) => length > 0);

function presetSource(given: string, env: Environment, problems: Problems): PresetSource[] {
  const name = PRESET_NAMES.find((one) => one === given);
  if (name === undefined) {
    const meant = closestName(given, PRESET_NAMES);
    const hint = meant === undefined ? "docs/platforms.md lists them" : `did you mean ${meant}?`;
    const unknown = `got ${JSON.stringify(given)}, for which there is no preset; ${hint}`;
    problems.add(["SOURCES"], moreThanSecret(given) ?? unknown);
    return [];
  }
  const [current, previous] = secretVariables(name);
  const secrets = [current, previous].flatMap((variable) => env[variable]?.replace(/\r?\n$/, "") || []);
  if (!env[current] && !LEARNING_PRESETS.has(name))
    problems.add([current], `is not set, expected with ${name} in SOURCES`, ["SOURCES"]);
  return [{ name, secrets }];
}

/** `standard-webhooks` has `STANDARD_WEBHOOKS_SECRET`. */
export function secretVariables(name: string): [current: string, previous: string] {
  const variable = `${name.toUpperCase().replaceAll("-", "_")}_SECRET`;
  return [variable, `${variable}_PREVIOUS`];
}

const NAME = /^[a-z][a-z0-9-]{0,62}$/;
const RESERVED = [PLATFORM, OAUTH, "v1", "v2"];
const PATH = /^(?:\/(?:[A-Za-z0-9._~-]+|:[a-z][A-Za-z0-9]{0,31}))+$/;

/** The problems of the `sources` of a configuration file. */
export function sourceProblems(sources: unknown): string[] {
  if (sources === undefined) return [];
  if (typeof sources !== "object" || sources === null || Array.isArray(sources))
    return ["sources: expected an object, such as { billing: stripe({ secret }) }"];
  return Object.entries(sources).flatMap(([name, definition]: [string, unknown]) => {
    if (!NAME.test(name))
      return [`sources.${name}: expected a name of up to 63 lowercase letters, digits and -, beginning with a letter`];
    if (RESERVED.includes(name)) return [`sources.${name}: the name is taken; choose another one`];
    const { createScheme, settings } = (definition ?? {}) as Partial<SourceDefinition>;
    if (typeof createScheme !== "function" || settings === undefined)
      return [`sources.${name}: expected what a preset returns, such as stripe({ secret }) of "oncehook/sources"`];
    const { path } = settings;
    if (path === undefined || PATH.test(path)) return [];
    return [`sources.${name}: path: got ${JSON.stringify(path)}, expected one such as /hooks/stripe or /hooks/:shop`];
  });
}
