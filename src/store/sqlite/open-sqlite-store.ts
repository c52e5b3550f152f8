import { closeSync, existsSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { callOnce } from "../../domain/index.ts";
import { makePrivateFolder } from "../../system/index.ts";
import { createAreas } from "../areas/areas.ts";
import type { StoredRecord } from "../areas/records.ts";
import { writeSetting } from "../areas/settings.ts";
import { Batches, type PendingLookup } from "../batches.ts";
import { bindQuery, sqliteDialect } from "../bind-query.ts";
import type { Database } from "../database.ts";
import { applyMigrations } from "../migrations/apply-migrations.ts";
import type { DryRunOptions, PendingEvent } from "../once.ts";
import { backoffDelays, retryUntil } from "../retry-until.ts";
import type { OpenedStore, OpenOptions, Store } from "../store.ts";
import { MigrationError } from "../store-errors.ts";
import { assertRuntime } from "./assert-runtime.ts";
import { Checkpointer, type PauseWriter } from "./checkpointer.ts";
import { Connection } from "./connection.ts";
import { isDataError, transientReason } from "./database-errors.ts";
import { assertOwnFile } from "./database-file.ts";
import { EventTask, insertCallbacks } from "./event-task.ts";
import { Flusher, keepWal, openWal } from "./flusher.ts";
import { inTransaction } from "./handle.ts";
import { joinReceivers } from "./join-receivers.ts";
import { createRecordReader } from "./records.ts";
import { isReplayed, ReplayTask } from "./replay-task.ts";
import { Writer } from "./writer.ts";
import { NO_EVENT } from "./writer-queue.ts";

export interface SqliteOptions extends OpenOptions {
  /** A file, or a link to one; its folder is made when it does not exist. */
  readonly path: string;
}

/** How long what no request waits for (retries, lists, the retention job) may wait for a busy database. */
const BACKGROUND_TIMEOUT_MS = 10_000;
const MIGRATION_TIMEOUT_MS = 60_000;
const WAL_TIMEOUT_MS = 5_000;
const WAL_NOT_RESTARTED =
  "the existing write-ahead log could not be restarted: another receiver serves from this database, or another process " +
  "reads it, such as a backup. After a disk failure, restart when that has ended: until then a power failure could " +
  "lose acknowledged events";

/** @throws MigrationError for a newer schema, another environment's database, or a file that is replaced meanwhile */
export async function openSqliteStore(options: SqliteOptions): Promise<OpenedStore> {
  assertRuntime();
  makePrivateFolder(dirname(options.path));
  const createdFile = existsSync(options.path) ? undefined : options.path;
  // Only if there is none: to open and close a file takes away every lock of this process on it.
  if (createdFile === undefined) await assertOwnFile(options.path);
  else closeSync(openSync(options.path, "a", 0o600));
  const inode = statSync(options.path).ino;
  const writer = new Connection(options.path);
  const deadline = performance.now() + MIGRATION_TIMEOUT_MS;
  try {
    const notes = (await restartWal(writer)) ? [] : [WAL_NOT_RESTARTED];
    const { applied, previousBaseUrl } = await inTransaction(writer, deadline, (tx) =>
      applyMigrations(tx, options.migrations, options.stamp, options.clock.now()),
    );
    assertSameFile(options.path, inode);
    // SQLite follows links; what is beside the database is beside what they lead to.
    const path = writer.database.location() ?? options.path;
    const flusher = new Flusher(openWal(path));
    await flusher.flush();
    const reader = new Connection(path);
    reader.database.exec("PRAGMA query_only = ON");
    const store = createStore(writer, reader, flusher, { ...options, path });
    return { store, applied, createdFile, previousBaseUrl, durabilityWarnings: [], notes };
  } catch (error) {
    writer.close();
    throw error;
  }
}

/**
 * `oncehook restore` may replace the database while a process waits for it. That process has opened a file without a name, and
 * its data would be lost. From here on a restore is refused: its lock and an open connection exclude each other.
 */
function assertSameFile(path: string, inode: number): void {
  if (statSync(path, { throwIfNoEntry: false })?.ino === inode) return;
  throw new MigrationError(
    `DATABASE_URL: another file was put in the place of ${path} while it was opened, as a restore does. Start again.`,
  );
}

/**
 * Copies the WAL that a killed process, or one whose flush failed, left behind. Its pages may lie only in the kernel's memory,
 * marked as written, and no flush of the WAL finds them. The copy writes and flushes them again. A reader keeps the WAL, and is
 * waited for some time. A receiver on the same file keeps it for good, and has flushed what it relies on.
 * @returns false where the WAL was kept
 */
async function restartWal({ database }: Connection): Promise<boolean> {
  const until = performance.now() + WAL_TIMEOUT_MS;
  for (const pause of backoffDelays()) {
    const row = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    if (row?.busy !== 1 || row.log === 0) return true;
    if (performance.now() > until) return false;
    await sleep(pause);
  }
  return false;
}

function createStore(
  connection: Connection,
  reader: Connection,
  flusher: Flusher,
  { clock, path }: SqliteOptions,
): Store {
  let commits = 0;
  const writer = new Writer(connection, flusher, () => {
    commits += 1;
    if (connection.canCheckpointConcurrently) checkpointer.onCommit();
  });
  const pauseWriter: PauseWriter = (during) => writer.pause(during);
  const checkpointer = new Checkpointer(path, pauseWriter, (cause) => void flusher.markFailed(cause));
  const access = createDatabase(connection, reader, writer);
  // Each commit of another connection empties a connection's cache; the writer's has the pages that the event's rows go to.
  // It is free unless a handler waits, whose statement may have ended the transaction.
  const readBetween = createRecordReader(connection, flusher, () => commits);
  const readBeside = createRecordReader(reader, flusher);
  const lookups = new Batches<PendingLookup, StoredRecord | undefined>({
    run: (given) => {
      const isBusy = connection.isInHandler || connection.database.isTransaction;
      return isBusy ? readBeside(given) : readBetween(given);
    },
    maxConcurrentBatches: Number.POSITIVE_INFINITY,
    transientReason,
  });
  const tryWrite = createWriteProbe(access, clock);
  const areas = createAreas(access);
  const taskOf = (event: PendingEvent, dryRun?: DryRunOptions) =>
    isReplayed(event)
      ? new ReplayTask(event, connection, clock, dryRun)
      : new EventTask(event, connection, clock, dryRun);
  let joined: { close(): void } | undefined;
  return {
    dialect: "sqlite",
    database: access,
    find: (key, deadline) => lookups.ask({ key, deadline }),
    lookUp: (lookup) => lookups.add(lookup),
    submit: (event) => writer.add(taskOf(event)),
    dryRun: (event, observer) => writer.add(taskOf(event, { observer })),
    ...areas,
    async endStaleLeases(now) {
      joined = await joinReceivers(path, () => areas.leases.expireAll(now));
    },
    async appendCallbacks(rows) {
      if (rows.length > 0) await access.transact(async () => insertCallbacks(connection, rows));
    },
    broken: flusher.broken,
    async ping() {
      flusher.assertFlushing();
      reader.get("SELECT 1");
      await tryWrite();
    },
    close: callOnce(async () => {
      await writer.drain();
      await checkpointer.close();
      await flusher.close();
      if (!flusher.isIntact) keepWal(path);
      reader.close();
      connection.close();
      joined?.close();
    }),
  };
}

/** A handler may hold the writer for longer: that is no fault of the disk. */
const PROBE_MS = 1_000;

/** Writes a row, at most once a second: a full disk still reads. @throws the driver's error */
function createWriteProbe({ write }: Database, clock: SqliteOptions["clock"]): () => Promise<void> {
  let written: Promise<void> | undefined;
  let triedAt = 0;
  return () => {
    const now = performance.now();
    if (written === undefined || now - triedAt > PROBE_MS) {
      triedAt = now;
      written = writeSetting(write, "written_at", clock.now().toISOString());
      written.catch(() => {});
    }
    return Promise.race([written, sleep(PROBE_MS, undefined, { ref: false })]);
  };
}

function createDatabase(connection: Connection, reader: Connection, writer: Writer): Database {
  const inside = bindQuery(sqliteDialect, async (query) => connection.execute(query));
  const transact: Database["transact"] = (work, options) =>
    writer.submit(NO_EVENT, performance.now() + BACKGROUND_TIMEOUT_MS, () => work(inside), options);
  const read = bindQuery(sqliteDialect, (query) =>
    retryUntil(performance.now() + BACKGROUND_TIMEOUT_MS, () => reader.execute(query), transientReason),
  );
  return {
    dialect: "sqlite",
    read,
    readFirst: read,
    write: bindQuery(sqliteDialect, (query) => transact(async () => connection.execute(query))),
    transientReason,
    isDataError,
    transact,
  };
}
