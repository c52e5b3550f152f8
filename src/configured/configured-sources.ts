import { type Config, ConfigError, type NamedSource, secretVariables } from "../config/index.ts";
import {
  type Clock,
  createSparingLog,
  durationMs,
  type EventKey,
  errorReason,
  type Log,
  PLATFORM,
  retriesFor,
  sourceRetry,
} from "../domain/index.ts";
import type { AnswerMode, Source } from "../pipeline/index.ts";
import {
  createPlatformContract,
  OptionError,
  type Scheme,
  type SecretClaim,
  type SourceDefinition,
  type SourceEnvironment,
} from "../sources/index.ts";
import type { OriginalKeeper } from "../store/index.ts";

/** One from the environment has no limits of its own. */
export type ConfiguredSource = Pick<NamedSource, "name" | "definition"> & Partial<NamedSource>;

/**
 * The sources beside the built-in protocol, in the order of the configuration file and then of SOURCES.
 * @throws ConfigError where a preset cannot be made with its secret
 */
export async function configuredSources({ sources }: Config): Promise<ConfiguredSource[]> {
  const named = sources.named.map((one) => ({ ...one, definition: one.definition as SourceDefinition }));
  if (sources.presets.length === 0) return named;
  // Loaded by those who name presets in the environment, and not at every start.
  const { PRESETS } = await import("../sources/platforms/index.ts");
  const presets = sources.presets.map(({ name, secrets }) => {
    try {
      return { name, definition: PRESETS[name]({ secret: secrets }) };
    } catch (cause) {
      throw new ConfigError([presetProblem(name, cause)]);
    }
  });
  return [...named, ...presets];
}

/** A preset of SOURCES has its secrets from variables: the one at fault is named. */
function presetProblem(name: string, cause: unknown): string {
  const isOfSecret = cause instanceof OptionError && (cause.option === "secret" || cause.option === "publicKey");
  if (!isOfSecret) return `SOURCES: ${name} cannot be used: ${errorReason(cause)}`;
  return `${secretVariables(name)[cause.place?.index ?? 0]}: ${cause.problem}`;
}

/** The endpoint URL to register for a source without `url`. @param baseUrl with the base path, without a final slash */
export function sourceUrl({ name, definition }: ConfiguredSource, baseUrl: string): string {
  return `${baseUrl}${definition.settings.path ?? `/api/${name}/callback`}`;
}

/** Of the time that a platform waits: the rest is for the network and for what the database is doing. */
const SHARE_OF_DEADLINE = 2 / 3;

export function answerMode({ settings: { answer }, facts: { deadlineSeconds } }: SourceDefinition): AnswerMode {
  if (typeof answer === "string") return answer;
  if (answer !== undefined) return { withinMs: durationMs(answer.within) };
  if (deadlineSeconds === undefined) return "inline";
  return { withinMs: Math.round(deadlineSeconds * SHARE_OF_DEADLINE * 1_000) };
}

interface SourceDependencies {
  /** Of the built-in protocol. */
  readonly scheme: Scheme;
  readonly configured: readonly ConfiguredSource[];
  readonly clock: Clock;
  readonly log: Log;
  readonly origin: () => string;
  readonly learntSecrets: { learning(source: string): NonNullable<SourceEnvironment["learning"]> } | undefined;
  /** Which tenant of a source has a secret, for all processes. */
  readonly claimSecret: (source: string, claim: SecretClaim) => Promise<string>;
  /** @param keepMs 0: no originals are kept */
  readonly keeperOf: (keepMs: number) => OriginalKeeper | undefined;
  readonly typeMismatch: (key: EventKey, header: string, body: string) => void;
}

/** All sources by their names, the platform first. @throws ConfigError for a secret that its platform cannot have given */
export function createSourceMap(
  { eventTypeFrom, rejectTypeMismatch, retry, retention, environment: appEnvironment }: Config,
  { scheme, configured, clock, log, origin, learntSecrets, claimSecret, keeperOf, typeMismatch }: SourceDependencies,
): ReadonlyMap<string, Source> {
  const rules = { eventTypeFrom, rejectTypeMismatch, typeMismatch };
  const platform: Source = {
    name: PLATFORM,
    answer: "inline",
    retry: () => retry,
    scheme,
    contract: createPlatformContract(rules),
    keeper: keeperOf(retention.originalsMs),
  };
  const sparing = createSparingLog(log, clock);
  const warn = (fields: Readonly<Record<string, unknown>>, message: string) => sparing("warn", { fields, message });
  const weakSecrets = ({ production: "refuse", development: "warn", test: undefined } as const)[appEnvironment];
  const others = configured.map(({ name, definition, limits }): [string, Source] => {
    const learning = definition.learns ? learntSecrets?.learning(name) : undefined;
    const environment = {
      ...{ name, clock, origin, warn, weakSecrets },
      claimSecret: (claim: SecretClaim) => claimSecret(name, claim),
      ...(learning !== undefined && { learning }),
    };
    try {
      const contract = definition.createContract(environment);
      const scheme = definition.createScheme(environment);
      const { headers = [], areUnknown } = definition.credentialPlaces;
      const credentialHeaders = areUnknown ? undefined : headers.map((header) => header.toLowerCase());
      const retry = sourceRetry(definition.facts.retryHours, definition.settings.retry);
      const retryOf: Source["retry"] = (ofHandler) => retriesFor({ ...retry, ...ofHandler });
      const keeper = keeperOf(limits?.keep ?? retention.originalsMs);
      const answer = answerMode(definition);
      return [name, { name, answer, retry: retryOf, scheme, contract, credentialHeaders, keeper }];
    } catch (cause) {
      throw new ConfigError([`sources.${name}: ${errorReason(cause)}`]);
    }
  });
  return new Map([[PLATFORM, platform], ...others]);
}
