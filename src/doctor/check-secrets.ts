import { type Config, ConfigError } from "../config/index.ts";
import { configuredSources } from "../configured/index.ts";
import { configuredSecrets, rotationAdvice, storedUse } from "../credentials/index.ts";
import type { Inspection } from "../store/index.ts";

export interface Finding {
  readonly level: "ok" | "warning" | "failure";
  readonly check: string;
  readonly message: string;
}

const finding =
  (level: Finding["level"]) =>
  (check: string, message: string): Finding => ({ level, check, message });
export const ok = finding("ok");
export const warning = finding("warning");
export const failure = finding("failure");
export const warnings = (check: string, texts: readonly string[]) => texts.map((text) => warning(check, text));

/** The problems of a configuration that names files; any other error is thrown. */
export async function problemsOf(work: Promise<unknown>): Promise<readonly string[]> {
  try {
    await work;
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const ABOUT = "secrets";

export async function checkSecrets(config: Config, found: Inspection, now: Date): Promise<Finding[]> {
  const uses = found.exists ? found.credentialUses : [];
  const reading = configuredSources(config).then((sources) => configuredSecrets(config, sources));
  const secretsNow = await reading.catch((error: unknown) => {
    // The check of the authentication says that the file with the keys cannot be used.
    if (error instanceof ConfigError) return undefined;
    throw error;
  });
  if (secretsNow === undefined) return [];
  const secrets = secretsNow();
  const findings = secrets
    .filter(({ isPrevious }) => isPrevious)
    .map((secret) => {
      const current = secrets.find(({ method, index }) => method === secret.method && index === 0);
      const { canRetire, message } = rotationAdvice(storedUse(secret, uses), storedUse(current, uses), now);
      return (canRetire ? ok : warning)(ABOUT, `${secret.name}: ${message}`);
    });
  const { methods, jwt } = config.authentication;
  if (jwt?.keys.from === "jwks" && methods.flat().includes("jwt"))
    findings.push(ok(ABOUT, "JWT_JWKS_URL: the platform rotates its keys there by itself; nothing to do here"));
  return findings.length > 0 ? findings : [ok(ABOUT, "none is being rotated")];
}
