import { setTimeout as sleep } from "node:timers/promises";
import { type EventKey, keyText } from "../domain/index.ts";
import type { Receiver } from "./callback.ts";

const PAUSE_MS = 100;
const MOST_UNSAVED = 1_000;
const LOOK_UP_MS = 1_000;
const DROPPED =
  `memory holds ${MOST_UNSAVED} results of prepare that could not be stored; this one, the oldest, is dropped: unless ` +
  "another process has completed the event, its next delivery runs prepare again";

/** A claimed step: who holds it, and until when, on the scale of `performance.now()`. */
export interface Claim {
  readonly owner: string;
  readonly ends: number;
}

/**
 * Stores what `prepare` gave, again and again while the lease lasts: an authorization code that was exchanged works
 * no second time. Storing twice does no harm, since only the lease's owner may.
 * @returns "saved"; the other delivery's sealed result where that was faster; "lost" when the lease is another's;
 *   "unsaved" when the database stayed away. Of the last two the result waits in this process for the next delivery
 */
export async function keepPrepared(
  key: EventKey,
  claim: Claim,
  text: string,
  sealed: Uint8Array,
  receiver: Receiver,
): Promise<"saved" | "unsaved" | "lost" | Uint8Array> {
  const { store, log, unsaved } = receiver;
  for (;;) {
    try {
      if (await store.preparations.save(key, claim.owner, sealed)) {
        unsaved.delete(keyText(key));
        return "saved";
      }
      return await givenWay(key, text, receiver);
    } catch (error) {
      if (performance.now() < claim.ends) {
        await sleep(PAUSE_MS);
        continue;
      }
      log.error(
        { err: error, event_id: key.eventId },
        "the result of prepare could not be stored; it is kept in memory",
      );
      keepInMemory(key, text, receiver);
      return "unsaved";
    }
  }
}

/** The other delivery's work may fail because this one's was done before: its code is spent. */
async function givenWay(key: EventKey, text: string, receiver: Receiver): Promise<"lost" | Uint8Array> {
  const { store, unsaved } = receiver;
  const theirs = await store.preparations.get(key);
  const isRecorded =
    theirs === undefined && (await store.find(key, performance.now() + LOOK_UP_MS)) !== undefined;
  if (theirs !== undefined || isRecorded) unsaved.delete(keyText(key));
  else keepInMemory(key, text, receiver);
  return theirs ?? "lost";
}

/** When there are too many, the oldest goes: the likeliest to be of an event that another process has completed. */
function keepInMemory(key: EventKey, text: string, { unsaved, log }: Receiver): void {
  unsaved.delete(keyText(key));
  const [oldest] = unsaved.keys();
  if (unsaved.size >= MOST_UNSAVED && oldest !== undefined) {
    unsaved.delete(oldest);
    log.error({ event_id: oldest.slice(oldest.indexOf("\u0000") + 1) }, DROPPED);
  }
  unsaved.set(keyText(key), text);
}
