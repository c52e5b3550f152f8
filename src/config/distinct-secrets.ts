import type { Problems } from "./problems.ts";
import type { Values } from "./read-variables.ts";
import { key32 } from "./variable.ts";
import { SECRET_NAMES } from "./variables.ts";

/** What a platform signs with: some take the client's secret for it, so these may be the same as it. */
const FROM_PLATFORM: ReadonlySet<string> = new Set([
  "OAUTH_CLIENT_SECRET",
  "SIGNING_SECRET",
  "SIGNING_SECRET_PREVIOUS",
  "JWT_SECRET",
  "JWT_SECRET_PREVIOUS",
]);

/** A secret with two purposes leaks both at once. */
export function checkDistinct(values: Values, problems: Problems): void {
  const seen = new Map<string, string>();
  for (const name of SECRET_NAMES) {
    for (const secret of secretsOf(name, values)) {
      const other = seen.get(secret);
      if (other === undefined) seen.set(secret, name);
      else if (other === name) problems.add([name], "holds the same secret twice");
      else if (!mayShareSecret(name, other)) {
        problems.add([name], `is the same as ${other}, expected a secret of its own`);
      }
    }
  }
}

function mayShareSecret(one: string, other: string): boolean {
  const isClients = [one, other].includes("OAUTH_CLIENT_SECRET");
  return isClients && FROM_PLATFORM.has(one) && FROM_PLATFORM.has(other);
}

/** Every secret of a variable, each in one spelling. */
function secretsOf(name: (typeof SECRET_NAMES)[number], values: Values): string[] {
  const value = name === "SMTP_URL" ? URL.parse(values.SMTP_URL ?? "")?.password : values[name];
  return [value].flat().flatMap((one) => {
    if (one instanceof Uint8Array) return [Buffer.from(one).toString("base64")];
    return typeof one === "string" && one !== "" ? [canonicalSecret(one)] : [];
  });
}

/** The same 32 bytes are one secret in base64 as in hexadecimal, and with the prefix of a webhook's as without. */
function canonicalSecret(secret: string): string {
  const text = secret.replace(/^whsec_/, "");
  const key = key32.safeParse(text);
  return key.success ? key.data.toString("base64") : text;
}

/** The variables of one environment, with the name it goes by in messages. */
export interface EnvironmentFile {
  readonly name: string;
  readonly values: Readonly<Record<string, string | undefined>>;
}

const KINDS = {
  secret: SECRET_NAMES,
  address: ["CALLBACK_BASE_URL"],
  database: ["DATABASE_URL"],
} as const;

/** SPEC 1.6: environments share neither addresses nor secrets. Returns what two of them share, no secret shown. */
export function compareEnvironments(files: readonly EnvironmentFile[]): string[] {
  const problems: string[] = [];
  for (const [kind, names] of Object.entries(KINDS)) {
    const seen = new Map<string, { file: string; variable: string }>();
    for (const file of files) {
      for (const variable of names) {
        const value = file.values[variable]?.replace(/\/+$/, "");
        if (value === undefined || value === "") continue;
        const other = seen.get(value);
        if (other === undefined) seen.set(value, { file: file.name, variable });
        else if (other.file !== file.name) {
          problems.push(
            `${file.name} and ${other.file} share one ${kind}: ${variable} equals ${other.variable}; give each its own`,
          );
        }
      }
    }
  }
  return problems;
}
