import { percentDecoded } from "../domain/index.ts";
import { isPlaceholder, WHSEC, weaknessOf } from "../sources/index.ts";
import type { Environment, Problems } from "./read-variables.ts";
import { exporterSecrets } from "./tracing.ts";
import { key32 } from "./variable.ts";
import { secretNames, VARIABLES, type Values } from "./variables.ts";

/** All of them: an address is a secret where it is one as a whole. */
const SECRET_NAMES = secretNames("own", "previous", "issued", "address");

/** Longer than most words, which must stay readable, and shorter than most random parts of an address. */
const MIN_RANDOM_PART = 16;

export function secretTexts(env: Environment, values: Values): string[] {
  const texts = SECRET_NAMES.flatMap((name) => {
    const value = values[name];
    if (typeof value === "string") return [value];
    // A key is kept as bytes; its text could leak, and that of each in a list.
    return [env[name], ...(Array.isArray(value) ? (env[name]?.split(",") ?? []) : [])].map((one) => one?.trim());
  });
  const passwords = [values.DATABASE_URL, values.SMTP_URL].map((url) => URL.parse(url ?? "")?.password ?? "");
  const { NOTIFY_WEBHOOK_URL, ALERT_SLACK_URL, ALERT_TEAMS_URL, ALERT_DISCORD_URL } = values;
  // A part of a webhook's address may turn up without the rest of it.
  const parts = [NOTIFY_WEBHOOK_URL, ALERT_SLACK_URL, ALERT_TEAMS_URL, ALERT_DISCORD_URL].flatMap((address = "") => {
    const hook = URL.parse(address);
    return hook === null ? [] : [...hook.pathname.split("/"), ...hook.searchParams.values()];
  });
  return [
    ...texts,
    ...passwords,
    ...passwords.map(percentDecoded),
    ...parts.filter(({ length }) => length >= MIN_RANDOM_PART),
    ...exporterSecrets(env),
  ].filter((text) => text !== undefined && text !== "") as string[];
}

/** Platforms may sign with the client's secret. */
const mayShare = (one: string, other: string) => one === "OAUTH_CLIENT_SECRET" && /^(SIGNING|JWT)_SECRET/.test(other);

/** A secret with two purposes leaks both at once. */
export function checkDistinct(values: Values, problems: Problems): void {
  const seen = new Map<string, string>();
  for (const name of SECRET_NAMES) {
    const value = name === "SMTP_URL" ? URL.parse(values.SMTP_URL ?? "")?.password : values[name];
    for (const secret of [value].flat().filter(isSecret).map(canonicalSecret)) {
      const other = seen.get(secret);
      if (other === undefined) seen.set(secret, name);
      else if (other === name) problems.add([name], "holds the same secret twice");
      else if (!mayShare(name, other) && !mayShare(other, name))
        problems.add([name], `is the same as ${other}, expected a secret of its own`);
    }
  }
}

function isSecret(value: unknown): value is string | Uint8Array {
  return (typeof value === "string" && value !== "") || value instanceof Uint8Array;
}

/** One text for one secret: the same 32 bytes in base64, hexadecimal, or after a webhook's prefix. */
function canonicalSecret(secret: string | Uint8Array): string {
  if (typeof secret !== "string") return Buffer.from(secret).toString("base64");
  const text = secret.replace(WHSEC, "");
  const key = key32.read(text);
  return key === undefined ? text : Buffer.from(key).toString("base64");
}

export interface EnvironmentFile {
  readonly name: string;
  readonly values: Readonly<Record<string, string | undefined>>;
}

/** A variable of a source, which the configuration file may read under any name. */
const OF_SOURCE =
  /(?:SECRET|TOKEN|PASSWORD|PASSCODE|HASH|(?<!PUBLIC_|PUBLISHABLE_)KEY)S?(?:_(?:PREVIOUS|CURRENT|OLD|NEW|\d+))?$/;

/**
 * SPEC 1.6: environments share neither addresses nor secrets. Returns what two of them share, without its value.
 * @param secrets of the configuration that is loaded, whatever the names of their variables
 */
export function compareEnvironments(files: readonly EnvironmentFile[], secrets: readonly string[] = []): string[] {
  const kindOf = (variable: string, value: string): string | undefined => {
    if (variable === "CALLBACK_BASE_URL") return "address";
    if (variable === "DATABASE_URL") return "database";
    if (variable in VARIABLES) return SECRET_NAMES.some((name) => name === variable) ? "secret" : undefined;
    return OF_SOURCE.test(variable) || secrets.includes(value) ? "secret" : undefined;
  };
  const seen = new Map<string, { file: string; variable: string; environment: string }>();
  return files.flatMap(({ name: file, values }) => {
    // Two files of one environment, such as .env.production and .env.production-eu, may share all they have.
    const environment = values.APP_ENV ?? file;
    return Object.entries(values).flatMap(([variable, given = ""]) => {
      const kind = kindOf(variable, given);
      const value = given.replace(/\/+$/, "");
      if (kind === undefined || value === "") return [];
      const other = seen.get(`${kind} ${value}`);
      if (other === undefined) seen.set(`${kind} ${value}`, { file, variable, environment });
      if (other === undefined || other.environment === environment) return [];
      const both = `${variable} equals ${other.variable}`;
      return [`${file} and ${other.file} share one ${kind}: ${both}; give each its own`];
    });
  });
}

export interface Exposure {
  readonly name: string;
  readonly message: string;
  /** `warn`: production starts with a warning. */
  readonly production?: "warn";
  /** `ignore`: a development machine has good reasons for it. */
  readonly development?: "ignore";
}

const PLATFORM_PLACEHOLDER = "got a placeholder, expected the secret that the platform has issued";

/** Every configured secret that can be guessed, with the reason; none of its text. */
export function weakSecrets(values: Values): Exposure[] {
  const find = (kind: "own" | "previous") =>
    secretNames(kind).flatMap((name): Exposure[] => {
      const secrets = [values[name]].flat().filter(isSecret);
      const weakness = secrets.map(weaknessOf).find((one) => one !== undefined);
      if (weakness === undefined) return [];
      const command = `openssl rand ${name.startsWith("ENCRYPTION_KEY") ? "-base64" : "-hex"} 32`;
      const message = `got ${weakness}, expected a random one, such as from: ${command}`;
      if (kind === "own") return [{ name, message }];
      return [{ name, message: `${message}; remove it once it is rotated out`, production: "warn" }];
    });
  // Platforms issue short secrets, but no placeholder.
  const issued = secretNames("issued")
    .filter((name) => isPlaceholder(String(values[name] ?? "")))
    .map((name) => ({ name, message: PLATFORM_PLACEHOLDER }));
  return [...find("own"), ...issued, ...find("previous")];
}
