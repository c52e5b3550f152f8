import { createHmac, hkdfSync } from "node:crypto";
import { type AuthMethod, type Config, type JwtConfig, secretVariables } from "../config/index.ts";
import { type ConfiguredSource, pemKeysOf } from "../configured/index.ts";
import { type Clock, DAY_MS, type Log, PLATFORM, WindowMap } from "../domain/index.ts";
import { createRowBuffer } from "../observability/index.ts";
import type { Credential, SecretClaim } from "../sources/index.ts";
import type { Store, StoredCredentialUse, TenantSecretUse } from "../store/index.ts";
import { LearntSecrets, type LearntSecretsDependencies } from "./learnt-secrets.ts";

export interface ConfiguredSecret {
  readonly source: string;
  /** The key of its stored uses: a method of AUTH_METHOD, or `source:<name>`. */
  readonly method: string;
  readonly index: number;
  readonly fingerprint: string;
  readonly isPrevious: boolean;
  /** For an operator: the variable, or the source and the secret's number there. Never the value. */
  readonly name: string;
  /** After so many days without a use, no delivery is left that the platform signed with it. */
  readonly quietDays: number;
}

/** Notes when a credential of a source was accepted. @param tenant of a source whose path has parameters */
export type NoteCredential = (source: string, credential: Credential, tenant?: string | undefined) => void;

/** The secrets of the sources, learnt ones among them, and the notes of their use. */
export async function openCredentials(
  config: Config,
  configured: readonly ConfiguredSource[],
  common: Omit<LearntSecretsDependencies, "fingerprint"> & { readonly store: Store },
) {
  const fingerprint = secretFingerprint(config);
  const learntSecrets = new LearntSecrets({
    ...common,
    fingerprint: (source, secret) => fingerprint(`source:${source}`, secret),
  });
  await learntSecrets.begin(configured);
  const secrets = await configuredSecrets(config, configured, learntSecrets);
  const withTenants = configured.filter(({ definition }) => definition.hasTenantSecrets);
  const tenantSources = new Set(withTenants.map(({ name }) => name));
  return { learntSecrets, secrets, noteCredential: await createUseRecorder({ ...common, secrets, tenantSources }) };
}

interface UseRecorderDependencies {
  /** Those of now: some sources learn them. */
  readonly secrets: () => readonly ConfiguredSecret[];
  /**
   * Those in which each tenant has a secret. With a shared secret, a sender could replay a recorded callback to the path
   * of a made-up tenant.
   */
  readonly tenantSources: ReadonlySet<string>;
  readonly store: Pick<Store, "credentialUses" | "tenantSecretUses">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Once a minute is often enough to tell whether a secret is still in use, and costs the database nothing. */
const RECORD_EVERY_MS = 60_000;
/** There may be thousands of tenants; ten minutes tell as well whether a secret is in use. */
const TENANT_EVERY_MS = 600_000;
/** The current and the previous secret of as many tenants as the schemes keep. */
const MOST_RECORDED = 20_000;

/**
 * Notes which secrets are configured, and later when one was accepted; `doctor` reads it. A note that fails is left
 * for the next. Those of tenants are written many in a statement: after a start, thousands of tenants come at once.
 */
export async function createUseRecorder(dependencies: UseRecorderDependencies): Promise<NoteCredential> {
  const { secrets, tenantSources, clock, log } = dependencies;
  const { credentialUses, tenantSecretUses } = dependencies.store;
  const failed = (err: unknown) => log.debug({ err }, "recording the use of a secret failed");
  await credentialUses.noteConfigured(secrets(), clock.now()).catch(failed);
  /** Looked up for each callback, before any secrets are compared. */
  const recorded = new WindowMap<{ readonly resetAt: Date }>(MOST_RECORDED);
  const due = createRowBuffer<TenantSecretUse>({
    append: (uses) => tenantSecretUses.note(uses, clock.now()),
    maxRows: MOST_RECORDED,
    lengthOf: ({ source, tenant }) => source.length + tenant.length,
    onError: (err) => log.debug({ err }, "recording the uses of tenants' secrets failed"),
  });

  function isDue(key: string, everyMs: number): boolean {
    const now = clock.now();
    if (recorded.get(key, everyMs, now) !== undefined) return false;
    recorded.set(key, { resetAt: new Date(now.getTime() + everyMs) });
    return true;
  }

  return (source, { method, index }, tenant) => {
    if (isDue(`${source} ${method} ${index}`, RECORD_EVERY_MS)) {
      // Only the built-in protocol has several methods.
      const used = secrets().find(
        (one) => one.source === source && one.index === index && (source !== PLATFORM || one.method === method),
      );
      if (used !== undefined) credentialUses.note(used, clock.now()).catch(failed);
    }
    const isPrevious = index > 0;
    if (tenant === undefined || !tenantSources.has(source)) return;
    if (isDue(`${source}/${tenant} ${isPrevious}`, TENANT_EVERY_MS)) due.add({ source, tenant, isPrevious });
  };
}

/**
 * Keeps which tenant of a source has a secret. With another `ENCRYPTION_KEY`, each secret is again of the tenant that it
 * verifies first.
 */
export function createSecretClaims(
  config: Pick<Config, "encryptionKey">,
  { tenantSecrets }: Pick<Store, "tenantSecrets">,
  clock: Clock,
) {
  const fingerprint = secretFingerprint(config);
  return (source: string, { secret, tenant, lostBy }: SecretClaim): Promise<string> => {
    const claim = { source, tenant, lostBy, fingerprint: fingerprint(`tenants:${source}`, secret) };
    return tenantSecrets.claim(claim, clock.now());
  };
}

/**
 * The secrets, and the platform's keys in PEM, of the methods in use; the current one of each first. Then those of the
 * other sources. The fingerprints are keyed, so that a leaked database does not allow guessing secrets. Another
 * `ENCRYPTION_KEY` changes them, and the quiet period starts again.
 * @param learnt those that platforms chose themselves. All are in use: one that registers two addresses sends two
 * @returns those of now
 * @throws ConfigError when the file with the platform's keys cannot be used
 */
export async function configuredSecrets(
  config: Config,
  sources: readonly ConfiguredSource[],
  learnt?: Pick<LearntSecrets, "of">,
): Promise<() => ConfiguredSecret[]> {
  const { methods, signing, token, jwt } = config.authentication;
  const fingerprint = secretFingerprint(config);
  const texts = { hmac: signing.secrets, token: token.tokens, jwt: await jwtTexts(jwt) };
  const ofPlatform = [...new Set(methods.flat())].flatMap((method) =>
    texts[method].map((text, index, { length }) => ({
      source: PLATFORM,
      method,
      index,
      isPrevious: index > 0,
      fingerprint: fingerprint(method, text),
      name: platformName(method, index, length, config),
      quietDays: QUIET_DAYS,
    })),
  );
  const ofSource = (source: ConfiguredSource) => {
    const { name, definition } = source;
    const method = `source:${name}`;
    const { length } = definition.secrets;
    return [...definition.secrets, ...(learnt?.of(name) ?? [])].map((text, index, all) => {
      const phrase =
        index < length
          ? numbered("secret", index, length)
          : numbered("learnt secret", index - length, all.length - length);
      return {
        ...{ source: name, method, index, isPrevious: index > 0 && index < length },
        fingerprint: fingerprint(method, text),
        name: secretVariable(source, index, config) ?? `${phrase} of source ${name}`,
        quietDays: Math.max(QUIET_DAYS, Math.ceil((definition.facts.retryHours ?? 0) / DAY_HOURS)),
      };
    });
  };
  return () => [...ofPlatform, ...sources.flatMap(ofSource)];
}

/** In a sentence: the variable, or which one of the source's. */
export function sourceSecretPhrase(source: ConfiguredSource, index: number, config: Pick<Config, "sources">): string {
  const { name, definition } = source;
  const { length } = definition.secrets;
  if (index >= length) return `the learnt secret of source ${name}`;
  const which = length === 1 ? "the secret" : numbered("secret", index, length);
  return secretVariable(source, index, config) ?? `${which} of source ${name}`;
}

function numbered(what: string, index: number, count: number): string {
  return count === 1 ? what : `${what} ${index + 1} of ${count}`;
}

/** Undefined for a secret that is learnt, or stands in the configuration file. */
export function secretVariable(
  { name, definition }: ConfiguredSource,
  index: number,
  { sources }: Pick<Config, "sources">,
): string | undefined {
  const isInEnvironment = sources.presets.some((preset) => preset.name === name);
  return isInEnvironment && index < definition.secrets.length ? secretVariables(name)[Math.min(index, 1)] : undefined;
}

/** Tells the secrets of one use apart; keyed, so that a leaked database does not allow guessing them. */
function secretFingerprint({ encryptionKey }: Pick<Config, "encryptionKey">) {
  const key = Buffer.from(hkdfSync("sha256", encryptionKey, new Uint8Array(), "oncehook/credential-uses", 32));
  return (use: string, secret: string): string =>
    createHmac("sha256", key).update(`${use}\n${secret}`).digest("hex").slice(0, 16);
}

/** A text that tells each key of a JWT apart; none for a JWK Set, whose rotation is the platform's. */
async function jwtTexts(jwt: JwtConfig | null): Promise<readonly string[]> {
  if (jwt === null || jwt.keys.from === "jwks") return [];
  if (jwt.keys.from === "secrets") return jwt.keys.secrets;
  const keys = await pemKeysOf(jwt.keys.file, jwt.algorithm);
  return keys.map((key) => key.export({ type: "spki", format: "der" }).toString("base64"));
}

const VARIABLES = { hmac: "SIGNING_SECRET", token: "CALLBACK_TOKEN", jwt: "JWT_SECRET" } as const;

/** The variable, with the secret's number where it holds several. */
function platformName(method: AuthMethod, index: number, count: number, { authentication }: Config): string {
  if (method === "jwt" && authentication.jwt?.keys.from === "pem")
    return `JWT_PUBLIC_KEY_FILE, key ${index + 1} of ${count}`;
  const variable = VARIABLES[method];
  if (index === 0) return variable;
  return count > 2 ? `${variable}_PREVIOUS, ${index} of ${count - 1}` : `${variable}_PREVIOUS`;
}

/** Platforms redeliver for days, with the secret of the first try. Those that retry for longer have their own number. */
const QUIET_DAYS = 7;
const DAY_HOURS = 24;

export interface RotationAdvice {
  /** Whether it can be deleted. */
  readonly canRetire: boolean;
  /** Since when it has verified nothing; null where that cannot be known yet. ISO 8601. */
  readonly unusedSince: string | null;
  readonly message: string;
}

export const storedUse = (secret: ConfiguredSecret | undefined, uses: readonly StoredCredentialUse[]) =>
  uses.find((use) => use.method === secret?.method && use.fingerprint === secret.fingerprint);

/**
 * Silence counts from the last use, and from the start at which the secret was first a previous one.
 * @param secret a previous one @param current the one that replaces it
 */
export function rotationAdvice(
  secret: ConfiguredSecret,
  current: ConfiguredSecret | undefined,
  uses: readonly StoredCredentialUse[],
  now: Date,
): RotationAdvice {
  const keep = (why: string, unusedSince: string | null = null) => {
    return { canRetire: false, unusedSince, message: `keep it; ${why}` };
  };
  const use = storedUse(secret, uses);
  const usedAt = storedUse(current, uses)?.lastUsedAt ?? null;
  const since = use?.previousSince ?? null;
  if (since === null) return keep("the receiver has not started with it as a previous one yet");
  if (usedAt === null || Date.parse(usedAt) < Date.parse(since))
    return keep(`the platform has not used the new one since ${since}`);
  const last = use?.lastUsedAt ?? since;
  const isLater = Date.parse(last) > Date.parse(since);
  const said = isLater ? `was last used at ${last}` : `was not used since ${since}`;
  const unusedSince = isLater ? last : since;
  const days = Math.floor((now.getTime() - Date.parse(unusedSince)) / DAY_MS);
  return days < secret.quietDays
    ? keep(`it ${said}, less than ${secret.quietDays} days ago`, unusedSince)
    : { canRetire: true, unusedSince, message: `can go; it ${said}, ${days} days ago` };
}
