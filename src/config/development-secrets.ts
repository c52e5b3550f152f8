import { randomBytes } from "node:crypto";
import { link, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { makeFolder } from "../files/index.ts";
import { ConfigError } from "./config-error.ts";

const GENERATED = ["SIGNING_SECRET", "ENCRYPTION_KEY", "ADMIN_TOKEN"] as const;
const SAVED = z.record(z.enum(GENERATED), z.string());
const READABLE_BY_OTHERS = 0o077;

export interface DevelopmentSecrets {
  readonly values: Readonly<Record<string, string>>;
  /** Those that did not exist before. */
  readonly generated: readonly string[];
  readonly file: string;
}

/** The secrets of a developer's machine: generated once into the data folder, for its owner's eyes alone. */
export async function developmentSecrets(
  dataFolder: string,
  environment: string,
): Promise<DevelopmentSecrets> {
  const file = fileIn(dataFolder, environment);
  const saved = await readSaved(file);
  if (saved !== undefined) return { values: saved, generated: [], file };
  const values = Object.fromEntries(GENERATED.map((name) => [name, randomBytes(32).toString("base64")]));
  makeFolder(dataFolder);
  const written = `${file}.${randomBytes(8).toString("hex")}`;
  try {
    await writeFile(written, `${JSON.stringify(values, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    // A link appears whole or not at all: nobody reads a half-written file.
    await link(written, file);
  } catch (error) {
    // Another process that starts at the same time was first; its secrets are the ones.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return developmentSecrets(dataFolder, environment);
  } finally {
    await rm(written, { force: true });
  }
  return { values, generated: GENERATED, file };
}

/** Those that were generated before, where they were; nothing is generated. @throws ConfigError */
export function savedSecrets(
  dataFolder: string,
  environment: string,
): Promise<Readonly<Record<string, string>> | undefined> {
  return readSaved(fileIn(dataFolder, environment));
}

function fileIn(dataFolder: string, environment: string): string {
  return join(dataFolder, `secrets.${environment}.json`);
}

async function readSaved(file: string): Promise<Record<string, string> | undefined> {
  let text: string;
  try {
    const { mode } = await stat(file);
    if ((mode & READABLE_BY_OTHERS) !== 0) {
      throw new ConfigError([`${file}: others can read the secrets in it; run: chmod 600 ${file}`]);
    }
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const saved = SAVED.safeParse(parse(text));
  if (saved.success) return saved.data;
  throw new ConfigError([
    `${file}: does not hold the generated secrets; remove it, and new ones are generated`,
  ]);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
