import type { Config } from "../config/index.ts";
import { createLogger, type Logger, type LoggerOptions, SecretValues } from "../observability/index.ts";
import { configuredSources } from "./configured-sources.ts";
import { maskOf } from "./masks.ts";

/**
 * The log of a process with this configuration. It masks the secrets, and whatever is added to `secretValues` later.
 * @throws ConfigError where a preset cannot be made with its secret
 */
export async function openMaskedLog(
  config: Config,
  options: Partial<Omit<LoggerOptions, "mask">> = {},
): Promise<{ readonly logger: Logger; readonly secretValues: SecretValues }> {
  const secretValues = new SecretValues(config.secretValues);
  const mask = maskOf(config, { configured: await configuredSources(config), secretValues });
  return { logger: createLogger({ level: config.logLevel, ...options, mask }), secretValues };
}
