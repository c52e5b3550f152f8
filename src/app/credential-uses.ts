import { createHmac, hkdfSync } from "node:crypto";
import type { AuthMethod, Config, JwtConfig } from "../config/index.ts";
import type { Clock, Log } from "../domain/index.ts";
import type { Credential } from "../sources/index.ts";
import type { Store } from "../store/index.ts";
import { pemKeysOf } from "./platform.ts";

/** Once a minute is often enough to tell whether a secret is still in use, and costs the database nothing. */
const RECORD_EVERY_MS = 60_000;

export interface ConfiguredSecret extends Credential {
  readonly method: AuthMethod;
  readonly fingerprint: string;
  readonly isPrevious: boolean;
  readonly count: number;
}

/**
 * Notes which secrets are configured, and later when one was accepted; `doctor` reads it. A note that fails is left
 * for the next.
 */
export async function createCredentialUseRecorder(
  secrets: readonly ConfiguredSecret[],
  store: Store,
  clock: Clock,
  log: Log,
): Promise<(credential: Credential) => void> {
  const failed = (err: unknown) => log.debug({ err }, "recording the use of a secret failed");
  await store.credentialUses.noteConfigured(secrets, clock.now()).catch(failed);
  const recordedAt = new Map<ConfiguredSecret, number>();
  return ({ method, index }) => {
    const secret = secrets.find((one) => one.method === method && one.index === index);
    const now = clock.now();
    if (secret === undefined || now.getTime() - (recordedAt.get(secret) ?? 0) < RECORD_EVERY_MS) return;
    recordedAt.set(secret, now.getTime());
    store.credentialUses.note({ method, fingerprint: secret.fingerprint }, now).catch(failed);
  };
}

/**
 * The secrets, and the platform's keys in PEM, of the methods that are in use; the current one of each first. The
 * fingerprints are keyed, so that a leaked database does not allow guessing secrets; with another `ENCRYPTION_KEY`
 * they change, and the quiet period starts again.
 * @throws ConfigError when the file with the platform's keys cannot be used
 */
export async function configuredSecrets({ authentication, encryptionKey }: Config) {
  const { methods, signing, token, jwt } = authentication;
  const fingerprint = secretFingerprint({ encryptionKey });
  const chosen = new Set(methods.flat());
  const texts = { hmac: signing.secrets, token: token.tokens, jwt: await jwtTexts(jwt) };
  return [...chosen].flatMap((method) =>
    texts[method].map((text, index, { length }) => ({
      method,
      index,
      count: length,
      isPrevious: index > 0,
      fingerprint: fingerprint(method, text),
    })),
  );
}

/** Tells the secrets of one use apart; keyed, so that a leaked database does not allow guessing them. */
export function secretFingerprint({ encryptionKey }: Pick<Config, "encryptionKey">) {
  const key = Buffer.from(
    hkdfSync("sha256", encryptionKey, new Uint8Array(), "oncehook/credential-uses", 32),
  );
  return (use: string, secret: string): string =>
    createHmac("sha256", key).update(`${use}\n${secret}`).digest("hex").slice(0, 16);
}

/** What tells the keys of a JWT apart; nothing for a JWK Set, whose rotation is the platform's. */
async function jwtTexts(jwt: JwtConfig | null): Promise<readonly string[]> {
  if (jwt === null || jwt.keys.from === "jwks") return [];
  if (jwt.keys.from === "secrets") return jwt.keys.secrets;
  const keys = await pemKeysOf(jwt.keys.file, jwt.algorithm);
  return keys.map((key) => key.export({ type: "spki", format: "der" }).toString("base64"));
}

const VARIABLES = { hmac: "SIGNING_SECRET", token: "CALLBACK_TOKEN", jwt: "JWT_SECRET" } as const;

/** The variable, and the place in it where it holds several: never the value. */
export function secretName({ method, index, count }: ConfiguredSecret, { authentication }: Config): string {
  if (method === "jwt" && authentication.jwt?.keys.from === "pem")
    return `JWT_PUBLIC_KEY_FILE, key ${index + 1} of ${count}`;
  const variable = VARIABLES[method];
  if (index === 0) return variable;
  return count > 2 ? `${variable}_PREVIOUS, ${index} of ${count - 1}` : `${variable}_PREVIOUS`;
}
