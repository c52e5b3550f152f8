import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  ERASED,
  type EventKey,
  keyText,
  type PayloadCondition,
  plainKeyOf,
  textWithoutValue,
} from "../domain/index.ts";
import { storedOrderKey } from "../pipeline/index.ts";
import { encryptOriginals, isErased, type Original } from "../store/index.ts";
import {
  addHandlersKeys,
  bytesOf,
  createErasureGiveWay,
  type FindingParts,
  type FoundPayloads,
  findPayloads,
  notificationsOf,
  readableOriginals,
} from "./find-payloads.ts";

/** The counts of an erasure, and the proof of which events it was of. */
export interface ErasureReport {
  readonly events: number;
  readonly originals: number;
  readonly callbacks: number;
  /** They run only if their platform sends them again. */
  readonly failures: number;
  readonly notifications: number;
  readonly captures: number;
  /** No configured key decrypts them. */
  readonly unreadable: number;
  /** SHA-256 in hex of the sources and ids of the events, sorted, one a line. The value is not in it. */
  readonly digest: string;
}

/**
 * Removes a person's payloads from all that is stored: originals, log entries, failures, notifications, preparations,
 * errors of attempts, captured callbacks. Records stay. An event that comes meanwhile is of the next erasure.
 * @param options.isDryRun only counts
 */
export async function erasePayloads(
  condition: PayloadCondition,
  { isDryRun }: { readonly isDryRun: boolean },
  dependencies: FindingParts,
): Promise<ErasureReport> {
  const { store } = dependencies;
  const { erasure } = store;
  const found = await findPayloads(condition, dependencies);
  if (!isDryRun) {
    // Rows that the value is found by go last: an interrupted erasure can be repeated.
    await erasure.deleteOrderKeys(storedOrderKey(condition.value));
    await erasure.eraseProblemTitles(condition.value);
    await erasure.deleteCaptures(found.captures);
    await erasure.eraseNotifications(found.notifications);
    for (const key of found.keys.values()) await erasure.eraseTraces(key, condition.value);
    // Again afterwards: the index may have been built from the rows meanwhile.
    await store.valueIndex.forget([...found.callbacks]);
    for (const id of found.callbacks) await erasure.eraseCallback(id, condition.value);
    for (const key of found.storedEvents) await erasure.eraseStoredEvent(key);
  }
  const originals = await eraseOriginals(found, condition, isDryRun, dependencies);
  if (!isDryRun) {
    // From here on nothing that was read before is accepted.
    await store.valueIndex.forget([...found.callbacks]);
    await eraseRunsAtWork(found, condition, dependencies);
  }
  return {
    events: new Set([...found.keys.values()].map((key) => keyText(plainKeyOf(key)))).size,
    originals,
    callbacks: found.callbacks.size,
    failures: found.failures.size,
    notifications: found.notifications.length,
    captures: found.captures.length,
    unreadable: found.unreadable,
    digest: digestOf([...found.keys.values()]),
  };
}

const LOOK_EVERY_MS = 100;

/** Failures, and what runs made that had their event before it was erased: they are waited for. */
async function eraseRunsAtWork(
  found: FoundPayloads,
  { value }: PayloadCondition,
  { store, clock, runLock }: FindingParts,
): Promise<void> {
  await runLock.exclusive(async () => {});
  await addHandlersKeys(found, store);
  for (const key of found.keys.values())
    while (!(await store.erasure.eraseFailure(key, value, clock.now()))) await sleep(LOOK_EVERY_MS);
  await store.erasure.eraseNotifications(await notificationsOf(found, store));
}

const ERASED_BODY = Buffer.from(ERASED);

/** Rewrites the blocks that hold such events. @returns how many originals lost their body */
async function eraseOriginals(
  { keys }: Pick<FoundPayloads, "keys">,
  { value }: PayloadCondition,
  isDryRun: boolean,
  { store, encryptor }: FindingParts,
): Promise<number> {
  const isHit = (one: Original) => keys.has(keyText(one)) && !isErased(one.body);
  const giveWay = createErasureGiveWay();
  let erased = 0;
  // A block that was merged with others meanwhile stands in a row that may have been passed already.
  for (let isMoved = true; isMoved; ) {
    isMoved = false;
    for await (const row of store.erasure.scan("originals")) {
      await giveWay();
      const before = bytesOf(row);
      const originals = readableOriginals(before, encryptor);
      const count = originals.filter(isHit).length;
      if (count === 0) continue;
      const after = () => originals.map((one) => (isHit(one) ? withoutPayload(one, value) : one));
      const isDone =
        isDryRun || (await store.erasure.replaceOriginals(row.id, before, encryptOriginals(after(), encryptor)));
      if (isDone) erased += count;
      else isMoved = true;
    }
  }
  return erased;
}

function withoutPayload(original: Original, value: string): Original {
  const { rawHeaders, target } = original;
  return {
    ...original,
    target: textWithoutValue(target, value),
    rawHeaders: rawHeaders.map((text) => textWithoutValue(text, value)),
    body: ERASED_BODY,
  };
}

function digestOf(keys: readonly EventKey[]): string {
  const lines = keys.map(({ source, eventId }) => `${source}/${eventId}\n`).toSorted();
  return createHash("sha256").update(lines.join("")).digest("hex");
}
