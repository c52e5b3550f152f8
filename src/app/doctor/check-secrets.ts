import { type Config, ConfigError } from "../../config/index.ts";
import { DAY_MS } from "../../domain/index.ts";
import type { Inspection, StoredCredentialUse } from "../../store/index.ts";
import { configuredSources } from "../configured-sources.ts";
import { type ConfiguredSecret, configuredSecrets } from "../credential-uses.ts";

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
export const warnings = (check: string, texts: readonly string[]) =>
  texts.map((text) => warning(check, text));

/** What makes a configuration unusable that names files; any other error is thrown. */
export async function problemsOf(work: Promise<unknown>): Promise<readonly string[]> {
  try {
    await work;
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

/** Platforms redeliver for days, with the secret of the first try; 7 days cover those that say how long. */
const QUIET_DAYS = 7;
const ABOUT = "secrets";

export async function checkSecrets(config: Config, found: Inspection, now: Date): Promise<Finding[]> {
  const uses = found.exists ? found.credentialUses : [];
  const reading = configuredSources(config).then((sources) => configuredSecrets(config, sources));
  const secrets = await reading.catch((error: unknown) => {
    // The check of the authentication says that the file with the keys cannot be used.
    if (error instanceof ConfigError) return undefined;
    throw error;
  });
  if (secrets === undefined) return [];
  const findings = secrets
    .filter(({ isPrevious }) => isPrevious)
    .map((secret) => {
      const current = secrets.find(({ method, index }) => method === secret.method && index === 0);
      const { canRetire, message } = rotationAdvice(storedUse(secret, uses), storedUse(current, uses), now);
      return (canRetire ? ok : warning)(ABOUT, `${secret.name}: ${message}`);
    });
  const { methods, jwt } = config.authentication;
  if (jwt?.keys.from === "jwks" && methods.flat().includes("jwt"))
    findings.push(
      ok(ABOUT, "JWT_JWKS_URL: the platform rotates its keys there by itself; nothing to do here"),
    );
  return findings.length > 0 ? findings : [ok(ABOUT, "none is being rotated")];
}

export const storedUse = (secret: ConfiguredSecret | undefined, uses: readonly StoredCredentialUse[]) =>
  uses.find((use) => use.method === secret?.method && use.fingerprint === secret.fingerprint);

/** Silence counts from the last use, and from the start at which the secret was first a previous one. */
export function rotationAdvice(
  use: StoredCredentialUse | undefined,
  current: StoredCredentialUse | undefined,
  now: Date,
): { readonly canRetire: boolean; readonly message: string } {
  const keep = (why: string) => ({ canRetire: false, message: `keep it; ${why}` });
  const since = use?.previousSince ?? null;
  if (since === null) return keep("the receiver has not started with it as a previous one yet");
  if (current?.lastUsedAt == null || Date.parse(current.lastUsedAt) < Date.parse(since))
    return keep(`the platform has not used the new one since ${since}`);
  const last = use?.lastUsedAt ?? since;
  const isLater = Date.parse(last) > Date.parse(since);
  const said = isLater ? `was last used at ${last}` : `was not used since ${since}`;
  const quietDays = Math.floor((now.getTime() - Date.parse(isLater ? last : since)) / DAY_MS);
  return quietDays < QUIET_DAYS
    ? keep(`it ${said}, less than ${QUIET_DAYS} days ago`)
    : { canRetire: true, message: `can go; it ${said}, ${quietDays} days ago` };
}
