import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { CheckpointAnswer } from "./checkpointer.ts";

/** The thread of `Checkpointer`: a connection of its own, and one pass for each message. */
const database = new DatabaseSync(workerData as string);
// PASSIVE waits for nobody and stops nobody: it copies what no reader needs any more.
const pass = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");

parentPort?.on("message", () => {
  parentPort?.postMessage(answer());
});

function answer(): CheckpointAnswer {
  try {
    const { log, checkpointed } = pass.get() as { log: number; checkpointed: number };
    return { frames: log, left: log - checkpointed };
  } catch {
    // A disk that is full or away: the log keeps what was committed, and the next pass begins where this one did.
    return { frames: 0, left: 0 };
  }
}
