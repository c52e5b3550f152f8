import type { Log } from "../domain/index.ts";
import { sealedTokensContext } from "../handlers/index.ts";
import { createLoop } from "../loop/index.ts";
import { preparationContext, sealContext } from "../receive/index.ts";
import type { Sealer } from "../seal/index.ts";
import type { SealedKind, SealedValue, Store } from "../store/index.ts";

const AT_ONCE = 100;

/** What each kind was sealed for. */
const CONTEXTS: Record<SealedKind, (key: SealedValue["key"]) => string> = {
  failure: ([eventId = "", source = ""]) => sealContext({ eventId, source }),
  preparation: ([eventId = "", source = ""]) => preparationContext({ eventId, source }),
  user_tokens: ([userId = ""]) => sealedTokensContext(userId),
};

export interface Resealed {
  /** Encrypted anew under the current key. */
  resealed: number;
  /** Encrypted under a key that is not configured. */
  unreadable: number;
}

/**
 * Encrypts under the current key whatever an earlier one encrypted, so that ENCRYPTION_KEY_PREVIOUS can go in the end.
 * A value that is changed at the same time is left as it is, and to the next pass where need be.
 */
export async function resealAll(
  store: Store["sealedValues"],
  sealer: Sealer,
  isStopping: () => boolean = () => false,
): Promise<Resealed> {
  const done: Resealed = { resealed: 0, unreadable: 0 };
  for (const kind of Object.keys(CONTEXTS) as SealedKind[]) {
    let page: SealedValue[];
    let after: SealedValue["key"] | undefined;
    do {
      page = await store.page(kind, after, AT_ONCE);
      for (const value of page) {
        if (isStopping()) return done;
        await resealOne(kind, value, store, sealer, done);
      }
      after = page.at(-1)?.key;
    } while (page.length === AT_ONCE);
  }
  return done;
}

async function resealOne(
  kind: SealedKind,
  value: SealedValue,
  store: Store["sealedValues"],
  sealer: Sealer,
  done: Resealed,
): Promise<void> {
  if (sealer.isCurrent(value.sealed)) return;
  const context = CONTEXTS[kind](value.key);
  let plain: Uint8Array;
  try {
    plain = sealer.open(value.sealed, context);
  } catch {
    done.unreadable += 1;
    return;
  }
  if (await store.replace(kind, value, sealer.seal(plain, context))) done.resealed += 1;
}

const EVERY_MS = 3_600_000;

/**
 * A pass at the start and one every hour, while ENCRYPTION_KEY_PREVIOUS is set: processes that have the old key alone may
 * still run beside this one. @returns stops it, waits for its end
 */
export function startResealing(
  store: Store["sealedValues"],
  sealer: Sealer,
  log: Log,
  everyMs = EVERY_MS,
): () => Promise<void> {
  let stopping = false;
  let isFirst = true;
  let told = false;
  const loop = createLoop(pass, failed);

  async function pass(): Promise<void> {
    const done = await resealAll(store, sealer, () => stopping);
    if (stopping) return;
    if (done.unreadable > 0) log.warn({ ...done }, UNREADABLE);
    else if (done.resealed > 0)
      log.info({ ...done }, "values of an earlier ENCRYPTION_KEY were encrypted anew");
    else if (!isFirst && !told) {
      told = true;
      log.info({}, CAN_GO);
    }
    isFirst = false;
  }

  function failed(error: unknown): void {
    log.warn({ err: error }, "not everything could be encrypted anew; the next pass goes on");
  }

  const first = pass()
    .catch(failed)
    .finally(() => loop.start(everyMs));
  return async () => {
    stopping = true;
    await first;
    await loop.stop();
  };
}

const UNREADABLE =
  "some values are encrypted under a key that neither ENCRYPTION_KEY nor ENCRYPTION_KEY_PREVIOUS holds";
const CAN_GO =
  "nothing is left to encrypt anew: ENCRYPTION_KEY_PREVIOUS can go where every process has the new key";
