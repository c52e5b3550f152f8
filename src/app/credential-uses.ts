import { createHmac, hkdfSync } from "node:crypto";
import type { Config } from "../config/index.ts";
import type { Clock, Log } from "../domain/index.ts";
import type { CredentialUse, Store } from "../store/index.ts";
import type { Credential } from "../verify/index.ts";

/** Once a minute is often enough to tell whether a secret is still in use, and costs the database nothing. */
const NOTE_EVERY_MS = 60_000;

/** Notes when a configured secret was accepted; `doctor` reads it. A note that fails is left for the next. */
export function createCredentialNotes(
  config: Config,
  store: Store,
  clock: Clock,
  log: Log,
): (credential: Credential) => void {
  const uses = new Map(configuredSecrets(config).map((use) => [use.name, use]));
  const noted = new Map<string, number>();
  return ({ method, index }) => {
    const use = uses.get(`${method} ${index === 0 ? "current" : "previous"}`);
    const now = clock.now();
    if (use === undefined || now.getTime() - (noted.get(use.name) ?? 0) < NOTE_EVERY_MS) return;
    noted.set(use.name, now.getTime());
    store
      .noteCredential(use, now)
      .catch((error: unknown) => log.debug({ err: error }, "the use of a secret could not be noted"));
  };
}

/** The secrets of this configuration by name, with the fingerprints that tell them from earlier ones. */
export function configuredSecrets({ authentication, encryptionKey }: Config): CredentialUse[] {
  const { signing, token, jwt } = authentication;
  const jwtSecrets = jwt?.keys.from === "secrets" ? jwt.keys.secrets : [];
  const key = Buffer.from(
    hkdfSync("sha256", encryptionKey, new Uint8Array(), "oncehook/credential-uses", 32),
  );
  return Object.entries({ hmac: signing.secrets, token: token.tokens, jwt: jwtSecrets }).flatMap(
    ([method, [current, ...previous]]) =>
      [
        { name: `${method} current`, secrets: current === undefined ? [] : [current] },
        { name: `${method} previous`, secrets: previous },
      ]
        .filter(({ secrets }) => secrets.length > 0)
        .map(({ name, secrets }) => ({ name, fingerprint: fingerprint(key, secrets) })),
  );
}

function fingerprint(key: Uint8Array, secrets: readonly string[]): string {
  return createHmac("sha256", key).update(JSON.stringify(secrets)).digest("hex").slice(0, 16);
}
