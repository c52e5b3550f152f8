import { readFile, stat } from "node:fs/promises";
import { type Config, ConfigError } from "../config/index.ts";
import { fileErrorText } from "../domain/index.ts";
import type { NamedSecret } from "../sources/index.ts";

const VARIABLE = "DIAGNOSE_SECRETS_FILE";
/** The group may read: a mounted Secret is readable by the group of a process that is not root's. */
const FORBIDDEN_MODE_BITS = 0o027;
const LINE = /^([A-Za-z][\w.-]{0,63})=(.*)$/;
const MIN_SECRET_BYTES = 8;
/** Each diagnosis tries all of them. */
const MAX_SECRETS = 16;

/**
 * The secrets that are used only for diagnoses, from lines of `name=secret`; skips empty lines and comments (`#`).
 * @throws ConfigError for a file that cannot be used, with the line's number and never its text
 */
export async function readDiagnosisSecrets({
  authentication: { diagnoseSecretsFile: file },
  environment,
  secretValues,
}: Config): Promise<NamedSecret[]> {
  if (file === null) return [];
  const refuse = (says: string) => new ConfigError([`${VARIABLE}: got ${JSON.stringify(file)}, ${says}`]);
  const text = await readPrivateFile(file, refuse);
  const found: NamedSecret[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [, name = "", secret = ""] = LINE.exec(line) ?? [];
    const problem =
      problemOf(name, secret, environment) ??
      (secretValues.includes(secret) ? "is in use here, expected one of another environment" : undefined) ??
      (found.some((other) => other.name === name) ? "has the name of a line before it" : undefined);
    if (problem !== undefined) throw refuse(`whose line ${index + 1} ${problem}`);
    found.push({ name, secret });
  }
  if (found.length > MAX_SECRETS) throw refuse(`which has ${found.length} secrets, expected at most ${MAX_SECRETS}`);
  return found;
}

async function readPrivateFile(file: string, refuse: (says: string) => ConfigError): Promise<string> {
  try {
    const { mode } = await stat(file);
    if ((mode & FORBIDDEN_MODE_BITS) !== 0)
      throw refuse(`which others can read or change, expected mode 0600 or 0640: chmod 600 ${file}`);
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw refuse(`which ${fileErrorText(error)}`);
  }
}

function problemOf(name: string, secret: string, environment: Config["environment"]): string | undefined {
  if (name === "") return "is not name=secret, such as test=…";
  if (Buffer.byteLength(secret) < MIN_SECRET_BYTES) return `has a secret of less than ${MIN_SECRET_BYTES} bytes`;
  if (secret.trim() !== secret) return "has white space around its secret, expected none";
  // Production's secret protects money, and must not be on a machine for development or tests.
  if (/^prod/i.test(name) && environment !== "production")
    return "names production; put the other environments' secrets into production's file, never the other way round";
  return undefined;
}
