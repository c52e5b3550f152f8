import { type Config, ConfigError, secretVariables } from "../config/index.ts";
import { answerMode, type ConfiguredSource, configuredSources, sourceUrl } from "../configured/index.ts";
import type { Handler } from "../handlers/index.ts";
import { IDENTITY_TEXTS } from "../sources/index.ts";
import { type Finding, failure, ok, warnings } from "./check-secrets.ts";
import { undocumentedTypeWarnings } from "./documented-types.ts";
import { sourceWarnings } from "./source-warnings.ts";

const ABOUT = "sources";

/** The sources beside the built-in protocol: a line for each, and what would keep its callbacks out. */
export async function checkSources(config: Config, handlers: readonly Handler[]): Promise<Finding[]> {
  let configured: readonly ConfiguredSource[];
  try {
    configured = await configuredSources(config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((problem) => failure(ABOUT, problem));
  }
  return [
    ...configured.map((source) => ok(ABOUT, describe(source, config))),
    ...warnings(ABOUT, sourceWarnings(config, configured)),
    ...warnings(ABOUT, await undocumentedTypeWarnings(configured, handlers)),
  ];
}

function describe(source: ConfiguredSource, config: Config): string {
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
