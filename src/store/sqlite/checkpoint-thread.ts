/**
 * The thread of `Checkpointer`: a connection of its own, and one pass for each message. It runs from its text, so that it
 * needs nothing from outside. A file of its own would get lost where an application is bundled.
 */
function runCheckpoints(): void {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads");
  /** https://sqlite.org/rescode.html#ioerr_fsync */
  const IOERR_FSYNC = 1034;
  const database = new DatabaseSync(workerData);
  // PASSIVE blocks no reader or writer: it copies the frames that no reader needs.
  const pass = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");

  const runPass = () => {
    try {
      const { log, checkpointed } = pass.get() ?? {};
      return { frames: Number(log), left: Number(log) - Number(checkpointed) };
    } catch (error) {
      const { errcode, message } = error as Error & { errcode?: number };
      // The log keeps what was committed, also on a full disk. The next pass begins where this one did.
      // After a flush that failed, no later pass copies again what the kernel dropped: the WAL would restart over it.
      return { frames: 0, left: 0, ...(errcode === IOERR_FSYNC && { flushFailed: message }) };
    }
  };

  parentPort?.on("message", () => parentPort?.postMessage(runPass()));
}

export const CHECKPOINT_THREAD = new URL(`data:text/javascript,${encodeURIComponent(`(${runCheckpoints})()`)}`);
