import type { Config } from "../config/index.ts";
import { type ConfiguredSource, maskOf } from "../configured/index.ts";
import { createLogger, SecretValues } from "../observability/index.ts";

export type LogLine = Readonly<Record<string, unknown>>;

/** A log that stays in memory, masked as the real one is. */
export function capturedLog(config: Config, configured: readonly ConfiguredSource[] = []) {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const secretValues = new SecretValues(config.secretValues);
  const mask = maskOf(config, { configured, secretValues });
  return { logger: createLogger({ level: config.logLevel, mask, destination }), secretValues, lines };
}
