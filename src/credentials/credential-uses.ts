import { createHmac, hkdfSync } from "node:crypto";
import { type AuthMethod, type Config, type JwtConfig, secretVariables } from "../config/index.ts";
import { type ConfiguredSource, pemKeysOf } from "../configured/index.ts";
import { type Clock, DAY_MS, type Log, PLATFORM } from "../domain/index.ts";
import { createRowBuffer } from "../observability/index.ts";
import type { Credential, SecretClaim } from "../sources/index.ts";
import type { Store, StoredCredentialUse, TenantSecretUse } from "../store/index.ts";
import type { LearntSecrets } from "./learnt-secrets.ts";

/** Once a minute is often enough to tell whether a secret is still in use, and costs the database nothing. */
const RECORD_EVERY_MS = 60_000;

export interface ConfiguredSecret {
  readonly source: string;
  /** The key of its stored uses: a method of AUTH_METHOD, or `source:<name>`. */
  readonly method: string;
  readonly index: number;
  readonly fingerprint: string;
  readonly isPrevious: boolean;
  /** For an operator: the variable, or the source and the secret's number there. Never the value. */
  readonly name: string;
}

/** Notes when a credential of a source was accepted. @param tenant of a source whose path has parameters */
export type NoteCredential = (source: string, credential: Credential, tenant?: string | undefined) => void;

const isUsed = (secret: ConfiguredSecret, source: string, { method, index }: Credential) =>
  secret.source === source && secret.index === index && (source !== PLATFORM || secret.method === method);

/**
 * Notes which secrets are configured, and later when one was accepted; `doctor` reads it. A note that fails is left
 * for the next.
 * @param secrets those of now: some sources learn them
 */
export async function createCredentialUseRecorder(
  secrets: () => readonly ConfiguredSecret[],
  store: Store,
  clock: Clock,
  log: Log,
): Promise<NoteCredential> {
  const failed = (err: unknown) => log.debug({ err }, "recording the use of a secret failed");
  await store.credentialUses.noteConfigured(secrets(), clock.now()).catch(failed);
  /** By source, method and index: looked up for each callback, before any secrets are compared. */
  const recordedAt = new Map<string, number>();
  return (source, credential) => {
    const now = clock.now();
    const key = `${source} ${credential.method} ${credential.index}`;
    if (now.getTime() - (recordedAt.get(key) ?? 0) < RECORD_EVERY_MS) return;
    recordedAt.set(key, now.getTime());
    const secret = secrets().find((one) => isUsed(one, source, credential));
    if (secret === undefined) return;
    const { method, fingerprint } = secret;
    store.credentialUses.note({ method, fingerprint }, now).catch(failed);
  };
}

/** There may be thousands of tenants; ten minutes tell as well whether a secret is in use. */
const TENANT_EVERY_MS = 600_000;
/** The current and the previous secret of as many tenants as the schemes keep. */
const MOST_RECORDED = 20_000;

/**
 * Notes which secrets of tenants were accepted, many in a statement: after a start, thousands of tenants come at once.
 * @param sources those in which each tenant has a secret. With a shared secret, a sender could replay a recorded
 *   callback to the path of a made-up tenant
 */
export function createTenantUseRecorder(
  sources: ReadonlySet<string>,
  { tenantSecretUses }: Pick<Store, "tenantSecretUses">,
  clock: Clock,
  log: Log,
): NoteCredential {
  /** When each was noted; the one noted first makes room. */
  const recordedAt = new Map<string, number>();
  const due = createRowBuffer<TenantSecretUse>({
    append: (uses) => tenantSecretUses.note(uses, clock.now()),
    maxRows: MOST_RECORDED,
    lengthOf: ({ source, tenant }) => source.length + tenant.length,
    onError: (err) => log.debug({ err }, "recording the uses of tenants' secrets failed"),
  });

  return (source, { index }, tenant) => {
    if (tenant === undefined || !sources.has(source)) return;
    const isPrevious = index > 0;
    const key = `${source}/${tenant} ${isPrevious}`;
    const now = clock.now().getTime();
    if (now - (recordedAt.get(key) ?? 0) < TENANT_EVERY_MS) return;
    recordedAt.delete(key);
    const [oldest] = recordedAt.size >= MOST_RECORDED ? recordedAt.keys() : [];
    if (oldest !== undefined) recordedAt.delete(oldest);
    recordedAt.set(key, now);
    due.add({ source, tenant, isPrevious });
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
 * @throws ConfigError when the file with the platform's keys cannot be used
 */
export async function configuredSecrets(
  config: Config,
  sources: readonly ConfiguredSource[],
): Promise<ConfiguredSecret[]> {
  const { methods, signing, token, jwt } = config.authentication;
  const fingerprint = secretFingerprint(config);
  const chosen = new Set(methods.flat());
  const texts = { hmac: signing.secrets, token: token.tokens, jwt: await jwtTexts(jwt) };
  const ofPlatform = [...chosen].flatMap((method) =>
    texts[method].map((text, index, { length }) => ({
      source: PLATFORM,
      method,
      index,
      isPrevious: index > 0,
      fingerprint: fingerprint(method, text),
      name: platformName(method, index, length, config),
    })),
  );
  return [...ofPlatform, ...sources.flatMap((source) => secretsOfSource(source, config, fingerprint))];
}

function secretsOfSource(
  source: ConfiguredSource,
  config: Config,
  fingerprint: (use: string, secret: string) => string,
): ConfiguredSecret[] {
  const { name, definition } = source;
  const method = `source:${name}`;
  return definition.secrets.map((text, index) => ({
    ...{ source: name, method, index, isPrevious: index > 0 },
    fingerprint: fingerprint(method, text),
    name: sourceSecretName(source, index, config),
  }));
}

type SourceSecret = readonly [source: ConfiguredSource, index: number, config: Pick<Config, "sources">];

/** In a sentence: the variable, or which one of the source's. */
export function sourceSecretPhrase(...secret: SourceSecret): string {
  const [{ name, definition }, index] = secret;
  const { length } = definition.secrets;
  if (index >= length) return `the learnt secret of source ${name}`;
  const which = length === 1 ? "the secret" : `secret ${index + 1} of ${length}`;
  return secretVariable(...secret) ?? `${which} of source ${name}`;
}

function secretVariable(...[{ name }, index, { sources }]: SourceSecret): string | undefined {
  const isInEnvironment = sources.presets.some((preset) => preset.name === name);
  return isInEnvironment ? secretVariables(name)[Math.min(index, 1)] : undefined;
}

/** In a list: the variable, or the source, with the secret's number where it has several. */
function sourceSecretName(...secret: SourceSecret): string {
  const [{ name, definition }, index] = secret;
  const { length } = definition.secrets;
  const variable = secretVariable(...secret);
  if (variable !== undefined) return variable;
  return length === 1 ? `${name}, secret` : `${name}, secret ${index + 1} of ${length}`;
}

/** Those that platforms chose themselves. All are in use: a platform that registers two addresses sends two. */
export function learntCredentials(
  sources: readonly ConfiguredSource[],
  learnt: Pick<LearntSecrets, "of">,
  fingerprint: (use: string, secret: string) => string,
): ConfiguredSecret[] {
  return sources.flatMap(({ name, definition }) => {
    const method = `source:${name}`;
    return learnt.of(name).map((text, at, { length }) => ({
      ...{ source: name, method, index: definition.secrets.length + at, isPrevious: false },
      fingerprint: fingerprint(method, text),
      name: length === 1 ? `${name}, learnt secret` : `${name}, learnt secret ${at + 1} of ${length}`,
    }));
  });
}

/** Tells the secrets of one use apart; keyed, so that a leaked database does not allow guessing them. */
export function secretFingerprint({ encryptionKey }: Pick<Config, "encryptionKey">) {
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

/** Platforms redeliver for days, with the secret of the first try; 7 days cover those that say how long. */
const QUIET_DAYS = 7;

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
