import {
  type Config,
  type ConfigFile,
  type ConfigUse,
  loadConfigFile,
  loadEnvironment,
} from "../config/index.ts";
import type { ConfigurationOptions } from "./configured-command.ts";
import { loadEnvFile } from "./load-env-file.ts";

export interface Loaded {
  readonly config: Config;
  readonly file: ConfigFile;
  /** The secrets that were generated just now, outside production, and where they lie. */
  readonly generated: readonly string[];
  readonly secretsFile: string | undefined;
}

/** The configuration of the process: the environment, an environment file where one is named, and oncehook.config.ts. */
export async function load(options: ConfigurationOptions = {}, use: ConfigUse = {}): Promise<Loaded> {
  if (options.env !== undefined) loadEnvFile(options.env);
  const cwd = process.cwd();
  const file = await loadConfigFile(cwd, options.config);
  const { config, generated, secretsFile } = await loadEnvironment({ env: process.env, cwd, file, use });
  return { config, file, generated, secretsFile };
}
