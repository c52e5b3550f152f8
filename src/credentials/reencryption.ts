import type { Log } from "../domain/index.ts";
import { userTokensContext } from "../handlers/index.ts";
import { failureContext, preparationContext } from "../pipeline/index.ts";
import { type EncryptedKind, type EncryptedValue, ORIGINALS_CONTEXT, type Store } from "../store/index.ts";
import { createPoller, type Encryptor, type Poller } from "../system/index.ts";
import { sourceSecretContext } from "./learnt-secrets.ts";

const PAGE_SIZE = 100;

const CONTEXTS: Record<EncryptedKind, (key: EncryptedValue["key"]) => string> = {
  failure: ([eventId = "", source = ""]) => failureContext({ eventId, source }),
  preparation: ([eventId = "", source = ""]) => preparationContext({ eventId, source }),
  user_tokens: ([userId = ""]) => userTokensContext(userId),
  source_secret: ([source = ""]) => sourceSecretContext(source),
  original: () => ORIGINALS_CONTEXT,
};

/**
 * Encrypts every value of an earlier key under the current one, so that ENCRYPTION_KEY_PREVIOUS can go in the end. A
 * value that changes meanwhile is left as it is, and to the next pass if need be.
 */
export async function reencryptAll(
  store: Store["encryptedValues"],
  encryptor: Encryptor,
  isStopping: () => boolean = () => false,
) {
  const done = { reencrypted: 0, unreadable: 0 };
  for (const kind of Object.keys(CONTEXTS) as EncryptedKind[]) {
    let page: EncryptedValue[];
    let after: EncryptedValue["key"] | undefined;
    do {
      page = await store.page(kind, after, PAGE_SIZE);
      for (const value of page) {
        if (isStopping()) return done;
        if (encryptor.isCurrent(value.encrypted)) continue;
        const context = CONTEXTS[kind](value.key);
        let plain: Uint8Array;
        try {
          plain = encryptor.decrypt(value.encrypted, context);
        } catch {
          done.unreadable += 1;
          continue;
        }
        if (await store.replace(kind, value, encryptor.encrypt(plain, context))) done.reencrypted += 1;
      }
      after = page.at(-1)?.key;
    } while (page.length === PAGE_SIZE);
  }
  return done;
}

/**
 * While ENCRYPTION_KEY_PREVIOUS is set: a pass at the start and one after each interval. Processes that have only the
 * old key may still run beside this one.
 */
export function startReencryption(
  store: Store["encryptedValues"],
  encryptor: Encryptor,
  log: Log,
  everyMs: number,
): Poller {
  let isFirst = true;
  let announced = false;

  async function pass(isStopping: () => boolean): Promise<void> {
    const done = await reencryptAll(store, encryptor, isStopping);
    if (isStopping()) return;
    if (done.unreadable > 0) log.warn({ ...done }, UNREADABLE);
    else if (done.reencrypted > 0) log.info({ ...done }, "values of an earlier ENCRYPTION_KEY were re-encrypted");
    else if (!isFirst && !announced) {
      announced = true;
      log.info({}, PREVIOUS_KEY_UNUSED);
    }
    isFirst = false;
  }

  const loop = createPoller(pass, (error) =>
    log.warn({ err: error }, "re-encryption stopped early; the next pass continues"),
  );
  loop.startAtOnce(everyMs);
  return loop;
}

const UNREADABLE =
  "some values are encrypted under a key that neither ENCRYPTION_KEY nor ENCRYPTION_KEY_PREVIOUS holds";
const PREVIOUS_KEY_UNUSED =
  "re-encryption is complete: remove ENCRYPTION_KEY_PREVIOUS once every process has the new key";
