/** https://sqlite.org/rescode.html#ioerr_fsync */
const IOERR_FSYNC = 1034;

/**
 * A connection of its own, and one pass for each message. PASSIVE blocks no reader or writer: it copies the frames that no
 * reader needs.
 *
 * The log keeps what was committed, also on a full disk. The next pass begins where this one did. After a flush that failed,
 * no later pass copies again what the kernel dropped: the WAL would restart over it.
 */
const SCRIPT = `
const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads");
const database = new DatabaseSync(workerData);
const pass = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
const runPass = () => {
  try {
    const { log, checkpointed } = pass.get() ?? {};
    return { frames: Number(log), left: Number(log) - Number(checkpointed) };
  } catch ({ errcode, message }) {
    return { frames: 0, left: 0, ...(errcode === ${IOERR_FSYNC} && { flushFailed: message }) };
  }
};
parentPort.on("message", () => parentPort.postMessage(runPass()));
`;

/**
 * The thread of `Checkpointer`. A file of its own would get lost where an application is bundled. A function that is read as
 * text would call helpers there, such as esbuild's `__name`, which a thread lacks.
 */
export const CHECKPOINT_THREAD = new URL(`data:text/javascript,${encodeURIComponent(SCRIPT)}`);
