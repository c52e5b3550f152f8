import { type Config, ConfigError } from "../config/index.ts";
import { configuredSources } from "../configured/index.ts";
import { configuredSecrets, rotationAdvice } from "../credentials/index.ts";
import type { Inspection } from "../store/index.ts";

export interface Finding {
  readonly level: "ok" | "warning" | "failure";
  readonly check: string;
  readonly message: string;
  /** The end of the message, where it is a sentence that says what to do. */
  readonly remedy?: string;
}

const finding =
  (level: Finding["level"]) =>
  (check: string, message: string): Finding => ({ level, check, message });
export const ok = finding("ok");
export const warning = finding("warning");
export const failure = finding("failure");
export const warnings = (check: string, texts: readonly string[]) => texts.map((text) => warning(check, text));

/** Resolves with the error of a preset or a file that cannot be used; any other error is thrown. */
export async function orConfigError<Value>(work: Promise<Value>): Promise<Value | ConfigError> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

const ABOUT = "secrets";

export async function checkSecrets(config: Config, found: Inspection, now: Date): Promise<Finding[]> {
  const uses = found.exists ? found.credentialUses : [];
  const reading = configuredSources(config).then((sources) => configuredSecrets(config, sources));
  const secretsNow = await orConfigError(reading);
  // The check of the authentication says that the file with the keys cannot be used.
  if (secretsNow instanceof ConfigError) return [];
  const secrets = secretsNow();
  const findings = secrets
    .filter(({ isPrevious }) => isPrevious)
    .map((secret) => {
      const current = secrets.find(({ method, index }) => method === secret.method && index === 0);
      const { canRetire, message } = rotationAdvice(secret, current, uses, now);
      return (canRetire ? ok : warning)(ABOUT, `${secret.name}: ${message}`);
    });
  const { methods, jwt } = config.authentication;
  if (jwt?.keys.from === "jwks" && methods.flat().includes("jwt"))
    findings.push(ok(ABOUT, "JWT_JWKS_URL: the platform rotates its keys there by itself; nothing to do here"));
  return findings.length > 0 ? findings : [ok(ABOUT, "none is being rotated")];
}
