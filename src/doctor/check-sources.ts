import { type Config, ConfigError, secretVariables } from "../config/index.ts";
import { answerMode, type ConfiguredSource, configuredSources, sourceUrl } from "../configured/index.ts";
import type { Handler } from "../handlers/index.ts";
import { IDENTITY_TEXTS } from "../sources/index.ts";
import { type Finding, failure, ok, orConfigError, warnings } from "./check-secrets.ts";
import { undocumentedTypeWarnings } from "./documented-types.ts";

const ABOUT = "sources";

/** The sources beside the built-in protocol: a line for each, and what would keep its callbacks out. */
export async function checkSources(config: Config, handlers: readonly Handler[]): Promise<Finding[]> {
  const configured = await orConfigError(configuredSources(config));
  if (configured instanceof ConfigError) return configured.problems.map((problem) => failure(ABOUT, problem));
  return [
    ...configured.map((source) => ok(ABOUT, describeSource(source, config))),
    ...warnings(ABOUT, sourceWarnings(config, configured)),
    ...warnings(ABOUT, await undocumentedTypeWarnings(configured, handlers)),
  ];
}

function describeSource(source: ConfiguredSource, config: Config): string {
  const { name, definition } = source;
  const mode = answerMode(definition);
  const answer = typeof mode === "string" ? mode : `within ${mode.withinMs} ms`;
  const url = definition.settings.url ?? sourceUrl(source, config.baseUrl);
  return `${name}: ${url}, preset ${definition.preset}, ${secretsText(source, config)}, answer ${answer}, key: ${IDENTITY_TEXTS[definition.identity]}`;
}

function secretsText({ name, definition }: ConfiguredSource, { sources }: Config): string {
  if (definition.hasTenantSecrets) return "secrets of its tenants";
  const count = definition.secrets.length;
  if (count === 0) return definition.learns ? "a secret that the platform sends" : "no secret";
  const isOfEnvironment = sources.presets.some((preset) => preset.name === name);
  if (isOfEnvironment) return secretVariables(name).slice(0, count).join(" and ");
  return count === 1 ? "1 secret" : `${count} secrets`;
}

type WarningOf = (
  source: ConfiguredSource,
  config: Pick<Config, "maxUnverifiedBytes" | "retention">,
) => string | undefined;

/** Warnings of the settings of sources, for the start and `doctor`. @returns a sentence for each */
export function sourceWarnings(config: Parameters<WarningOf>[1], configured: readonly ConfiguredSource[]) {
  return [bodyLimitWarning, answerWarning, retentionWarning, openWarning].flatMap((warningOf) =>
    configured.flatMap((source) => warningOf(source, config) ?? []),
  );
}

const openWarning: WarningOf = ({ name, definition: { open } }) => open && `sources.${name}: ${open}`;

/** Of a source whose largest bodies MAX_UNVERIFIED_BYTES keeps out. */
const bodyLimitWarning: WarningOf = ({ name, definition: { facts, settings } }, { maxUnverifiedBytes }) => {
  const { maxBodyBytes: largest = 0, title } = facts;
  if (settings.maxBodyBytes !== undefined || largest <= maxUnverifiedBytes) return undefined;
  return (
    `MAX_UNVERIFIED_BYTES: got ${maxUnverifiedBytes}, and ${title} sends bodies of up to ${largest}: longer ones of the ` +
    `source ${name} get 413. Set it to ${largest} at least, or maxBodyBytes of the source`
  );
};

/** Of a source that responds after its platform has given up. */
const answerWarning: WarningOf = ({ name, definition }) => {
  const { deadlineSeconds, title } = definition.facts;
  const mode = answerMode(definition);
  if (typeof mode === "string" || deadlineSeconds === undefined) return undefined;
  if (mode.withinMs < deadlineSeconds * 1_000) return undefined;
  return (
    `sources.${name}: answer: got within ${mode.withinMs} ms, but ${title} waits for ${deadlineSeconds} s, and sends slower ` +
    "callbacks again: leave `answer` out, or set a shorter time"
  );
};

const DAY_HOURS = 24;

/** Of a source that refuses late deliveries of its platform, since records are kept for a shorter time. */
const retentionWarning: WarningOf = ({ name, definition }, { retention: { recordDays } }) => {
  const { facts, hasSignedTime } = definition;
  const days = Math.ceil((facts.retryHours ?? 0) / DAY_HOURS);
  if (recordDays === null || !hasSignedTime || days <= recordDays) return undefined;
  return (
    `RECORD_RETENTION_DAYS: got ${recordDays}, but ${facts.title} delivers an event again for ${days} days, and the source ` +
    `${name} refuses older events: set it to ${days} at least`
  );
};
