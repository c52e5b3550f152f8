import { randomBytes } from "node:crypto";
import { link, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { parseJson } from "../domain/index.ts";
import { makePrivateFolder } from "../system/index.ts";
import type { ConfigFile } from "./config-file.ts";
import { type ConfigUse, loadConfig } from "./load-config.ts";
import { ConfigError, type Environment } from "./read-variables.ts";
import { GENERATED } from "./variables.ts";

/**
 * The configuration of these variables; outside production, secrets that are not set are generated and kept.
 * @param file one with handlers of its own decides which built-in ones are on
 * @returns also the names of the secrets that were generated just now, and where they lie
 * @throws ConfigError
 */
export async function loadEnvironment(env: Environment, cwd: string, file: ConfigFile = {}, use?: ConfigUse) {
  const environment = env.APP_ENV || "development";
  const missing = GENERATED.filter((name) => env[name] === undefined || env[name] === "");
  if (missing.length === 0 || !["development", "test"].includes(environment))
    return { config: loadConfig(env, file, use), generated: [], secretsFile: undefined };
  // Nothing is written for a configuration that is refused.
  const placeholders = missing.map((name, index) => [name, Buffer.alloc(32, index + 1).toString("base64")]);
  loadConfig({ ...env, ...Object.fromEntries(placeholders) }, file);
  const secretsFile = secretsFileOf(env, cwd);
  const { values, isNew } = await developmentSecrets(secretsFile).catch((error: Error) => {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError([`${missing.join(", ")}: not set, and cannot be generated (${error.message}); set them`]);
  });
  const filled = missing.map((name) => [name, values[name]]);
  const origins = new Map([...(use?.origins ?? []), ...missing.map((name) => [name, "generated"] as const)]);
  const config = loadConfig({ ...env, ...Object.fromEntries(filled) }, file, { origins });
  return { config, generated: isNew ? missing : [], secretsFile };
}

function secretsFileOf({ DATABASE_URL: url = "", APP_ENV }: Environment, cwd: string): string {
  const folder = url.startsWith("sqlite:") ? dirname(url.slice("sqlite:".length)) : "data";
  return resolve(cwd, folder, `secrets.${APP_ENV || "development"}.json`);
}

/** The admin token that an earlier start in this folder generated; none is generated here. @throws ConfigError */
export async function savedAdminToken(env: Environment, cwd: string): Promise<string | undefined> {
  return (await readSaved(secretsFileOf(env, cwd)))?.ADMIN_TOKEN;
}

const SAVED = z.record(z.enum(GENERATED), z.string());
const READABLE_BY_OTHERS = 0o077;

type Secrets = Readonly<Record<string, string>>;

/** The secrets of a developer's machine: generated once into the data folder, readable only by its owner. */
async function developmentSecrets(file: string): Promise<{ values: Secrets; isNew: boolean }> {
  const saved = await readSaved(file);
  if (saved !== undefined) return { values: saved, isNew: false };
  const values = Object.fromEntries(GENERATED.map((name) => [name, randomBytes(32).toString("base64")]));
  makePrivateFolder(dirname(file));
  const written = `${file}.${randomBytes(8).toString("hex")}`;
  try {
    await writeFile(written, `${JSON.stringify(values, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    // A link is atomic: no process reads a half-written file.
    await link(written, file);
  } catch (error) {
    // Another process that starts at the same time was first; its secrets count.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return developmentSecrets(file);
  } finally {
    await rm(written, { force: true });
  }
  return { values, isNew: true };
}

async function readSaved(file: string): Promise<Secrets | undefined> {
  let text: string;
  try {
    const { mode } = await stat(file);
    if ((mode & READABLE_BY_OTHERS) !== 0)
      throw new ConfigError([`${file}: others can read the secrets in it; run: chmod 600 ${file}`]);
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const saved = SAVED.safeParse(parseJson(text));
  if (saved.success) return saved.data;
  throw new ConfigError([`${file}: does not hold the generated secrets; remove it, and new ones are generated`]);
}
