import { setTimeout as sleep } from "node:timers/promises";
import { type EventKey, keyText } from "../domain/index.ts";
import type { Receiver } from "./callback.ts";

const PAUSE_MS = 100;
const MOST_UNSAVED = 1_000;

/** A claimed step: who holds it, and until when, on the scale of `performance.now()`. */
export interface Claim {
  readonly owner: string;
  readonly ends: number;
}

/**
 * Stores what `prepare` gave, again and again while the lease lasts: an authorization code that was exchanged works
 * no second time. Storing twice does no harm, since only the lease's owner may.
 * @returns "saved"; the other delivery's sealed result where that was faster; "lost" when the lease is another's;
 *   "unsaved" when the database stayed away, and the result waits in this process for the next delivery
 */
export async function keepPrepared(
  key: EventKey,
  claim: Claim,
  text: string,
  sealed: Uint8Array,
  { store, log, unsaved }: Receiver,
): Promise<"saved" | "unsaved" | "lost" | Uint8Array> {
  const name = keyText(key);
  for (;;) {
    try {
      if (await store.preparations.save(key, claim.owner, sealed)) {
        unsaved.delete(name);
        return "saved";
      }
      return (await store.preparations.get(key)) ?? "lost";
    } catch (error) {
      if (performance.now() < claim.ends) {
        await sleep(PAUSE_MS);
        continue;
      }
      log.error(
        { err: error, event_id: key.eventId },
        "the result of prepare could not be stored; it is kept in memory",
      );
      if (unsaved.size < MOST_UNSAVED) unsaved.set(name, text);
      return "unsaved";
    }
  }
}
