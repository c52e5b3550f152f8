// The thread of `Checkpointer`: a connection of its own, and one pass for each message. JavaScript, and not TypeScript,
// since a thread that Node has to compile takes ten times as long to begin.
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

/** https://sqlite.org/rescode.html#ioerr_fsync */
const IOERR_FSYNC = 1034;

const database = new DatabaseSync(workerData);
// PASSIVE blocks no reader or writer: it copies the frames that no reader needs.
const pass = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");

parentPort?.on("message", () => {
  parentPort?.postMessage(answer());
});

/** @returns {import("./checkpointer.ts").CheckpointResult} */
function answer() {
  try {
    const { log, checkpointed } = pass.get() ?? {};
    return { frames: Number(log), left: Number(log) - Number(checkpointed) };
  } catch (error) {
    const { errcode, message } = /** @type {Error & { errcode?: number }} */ (error);
    // A disk that is full or away: the log keeps what was committed, and the next pass begins where this one did. But what
    // the kernel dropped after a flush that failed no later pass copies again, and the WAL would restart over it.
    return { frames: 0, left: 0, ...(errcode === IOERR_FSYNC && { flushFailed: message }) };
  }
}
