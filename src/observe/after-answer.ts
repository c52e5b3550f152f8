import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Log } from "../domain/index.ts";

/** What is done of a callback after its answer, in turns of the event loop of its own. */
export interface AfterAnswer {
  /**
   * @param body kept until then
   * @param work is given the SHA-256 of a body that is too long to be hashed in one turn
   * @returns false where more bytes wait than may
   */
  add(body: Uint8Array, work: (sha256?: string) => void): boolean;
  /** Resolves when all that was added so far is done; never rejects. */
  done(): Promise<void>;
}

const MOST_WAITING_BYTES = 16 * 1024 * 1024;
/** Rows of empty bodies take memory too. */
const LEAST_BYTES = 4_096;
const HASHED_AT_ONCE = 1024 * 1024;

/** One after the other, each in a turn of its own: a flood of refused callbacks never keeps the loop for longer than one of them. */
export function createAfterAnswer(log: Log, most = MOST_WAITING_BYTES): AfterAnswer {
  let waitingBytes = 0;
  let last: Promise<void> = Promise.resolve();

  async function run(body: Uint8Array, work: (sha256?: string) => void): Promise<void> {
    await nextTurn();
    try {
      if (body.length > HASHED_AT_ONCE) work(await hashed(body));
      else work();
    } catch (error) {
      log.error({ err: error }, "a refused callback could not be logged");
    }
  }

  return {
    add(body, work) {
      const bytes = Math.max(LEAST_BYTES, body.length);
      // A single body may be longer than all that may wait.
      if (waitingBytes > 0 && waitingBytes + bytes > most) return false;
      waitingBytes += bytes;
      last = last
        .then(() => run(body, work))
        .then(() => {
          waitingBytes -= bytes;
        });
      return true;
    },
    done: () => last,
  };
}

async function hashed(body: Uint8Array): Promise<string> {
  const hash = createHash("sha256");
  for (let at = 0; at < body.length; at += HASHED_AT_ONCE) {
    hash.update(body.subarray(at, at + HASHED_AT_ONCE));
    await nextTurn();
  }
  return hash.digest("hex");
}
