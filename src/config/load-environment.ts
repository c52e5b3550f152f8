import { dirname, resolve } from "node:path";
import type { Config } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import type { ConfigFile } from "./config-file.ts";
import { developmentSecrets, savedSecrets } from "./development-secrets.ts";
import { type ConfigUse, loadConfig } from "./load-config.ts";
import type { Environment } from "./read-variables.ts";

export interface LoadedEnvironment {
  readonly config: Config;
  /** The names of the secrets that were generated just now. */
  readonly generated: readonly string[];
  readonly secretsFile: string | undefined;
}

const SECRETS = ["SIGNING_SECRET", "ENCRYPTION_KEY", "ADMIN_TOKEN"];

/**
 * The configuration of these variables; outside production, secrets that are not set are generated and kept.
 * @throws ConfigError
 */
export async function loadEnvironment(given: {
  readonly env: Environment;
  readonly cwd: string;
  /** The configuration file: one with handlers of its own decides which built-in ones are on. */
  readonly file?: ConfigFile;
  readonly use?: ConfigUse;
}): Promise<LoadedEnvironment> {
  const { env, cwd, file = {}, use } = given;
  const environment = env.APP_ENV || "development";
  const missing = SECRETS.filter((name) => env[name] === undefined || env[name] === "");
  if (missing.length === 0 || !["development", "test"].includes(environment)) {
    return { config: loadConfig(env, file, use), generated: [], secretsFile: undefined };
  }
  // Nothing is written for a configuration that is refused.
  const placeholders = missing.map((name, index) => [name, Buffer.alloc(32, index + 1).toString("base64")]);
  loadConfig({ ...env, ...Object.fromEntries(placeholders) }, file);
  const secrets = await developmentSecrets(dataFolder(env, cwd), environment).catch(
    (error: NodeJS.ErrnoException) => {
      if (error instanceof ConfigError) throw error;
      throw new ConfigError([
        `${missing.join(", ")}: not set, and cannot be generated (${error.message}); set them`,
      ]);
    },
  );
  const chosen = missing.map((name) => [name, secrets.values[name]]);
  const config = loadConfig({ ...env, ...Object.fromEntries(chosen) }, file);
  const generated = secrets.generated.filter((name) => missing.includes(name));
  return { config, generated, secretsFile: secrets.file };
}

function dataFolder(env: Environment, cwd: string): string {
  const url = env.DATABASE_URL ?? "";
  return url.startsWith("sqlite:")
    ? dirname(resolve(cwd, url.slice("sqlite:".length)))
    : resolve(cwd, "data");
}

/** The admin token that was generated for a receiver in this folder, where one was; none is generated. @throws ConfigError */
export async function savedAdminToken(env: Environment, cwd: string): Promise<string | undefined> {
  return (await savedSecrets(dataFolder(env, cwd), env.APP_ENV || "development"))?.ADMIN_TOKEN;
}
