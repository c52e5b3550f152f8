import { closeSync, existsSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeFolder } from "../../files/index.ts";
import { bindQuery } from "../bound-query.ts";
import { applyMigrations } from "../migrations/apply-migrations.ts";
import { MigrationRefused } from "../migrations/migration-refused.ts";
import type { OpenedStore, OpenOptions } from "../opened-store.ts";
import { pauses, withPatience } from "../patience.ts";
import type { Access } from "../queries/access.ts";
import { commonOperations } from "../queries/common-operations.ts";
import type { Store } from "../store.ts";
import type { Tables } from "../tables.ts";
import { assertOwnFile } from "./assert-own-file.ts";
import { Checkpointer, type Rest } from "./checkpointer.ts";
import { Connection } from "./connection.ts";
import { Flusher, logFileOf } from "./flusher.ts";
import { busy } from "./hindrance.ts";
import { inTransaction } from "./in-transaction.ts";
import { keepLog } from "./keep-log.ts";
import { LookUps } from "./look-ups.ts";
import { insertCallbacks, once } from "./once.ts";
import { sqliteSpelling } from "./spelling.ts";
import { Writer } from "./writer.ts";

export interface SqliteOptions extends OpenOptions {
  /** A file; its folder is made when it does not exist. */
  readonly path: string;
}

/** How long what no request waits for (retries, lists, the retention job) may wait for a busy database. */
const PATIENCE_MS = 10_000;
const MIGRATION_PATIENCE_MS = 60_000;
const LOG_PATIENCE_MS = 5_000;
const NO_EVENT = "";
const LOG_KEPT =
  "the write-ahead log of before could not begin anew: another receiver serves from this database, or somebody reads it (a " +
  "backup, a person). After a disk that failed, start once more when they are done: until then a power failure could take " +
  "what is acknowledged";

/**
 * Opens the embedded database, brings its schema up to date and returns the store.
 * @throws MigrationRefused for a newer schema, another environment's database, or a file that is replaced meanwhile
 */
export async function openSqliteStore(options: SqliteOptions): Promise<OpenedStore> {
  makeFolder(dirname(options.path));
  const createdFile = existsSync(options.path) ? undefined : options.path;
  // Only where there is none: to open and close a file takes away every lock that this process has on it.
  if (createdFile === undefined) assertOwnFile(options.path);
  else closeSync(openSync(options.path, "a", 0o600));
  const inode = statSync(options.path).ino;
  const writer = new Connection(options.path, options.onStatement);
  const deadline = performance.now() + MIGRATION_PATIENCE_MS;
  try {
    const notes = (await beginLogAnew(writer)) ? [] : [LOG_KEPT];
    const { applied, previousBaseUrl } = await inTransaction(writer, deadline, (tx) =>
      applyMigrations(tx, options.migrations, options.stamp, options.clock.now()),
    );
    assertSameFile(options.path, inode);
    const flusher = new Flusher(logFileOf(options.path));
    await flusher.flush();
    const reader = new Connection(options.path, options.onStatement);
    reader.database.exec("PRAGMA query_only = ON");
    const store = assemble(writer, reader, flusher, options);
    return { store, report: { applied }, createdFile, previousBaseUrl, durabilityWarnings: [], notes };
  } catch (error) {
    writer.close();
    throw error;
  }
}

/**
 * Whoever waited for a database while `oncehook restore` put another in its place has opened one without a name, which nobody
 * would ever find again. From here on a restore is refused: its lock and an open connection exclude each other.
 */
function assertSameFile(path: string, inode: number): void {
  if (statSync(path, { throwIfNoEntry: false })?.ino === inode) return;
  throw new MigrationRefused(
    `DATABASE_URL: another file was put in the place of ${path} while it was opened, as a restore does. Start again.`,
  );
}

/**
 * What a process left in the log that was killed, or whose flush failed: it may lie in the kernel's memory only, marked as
 * written, where no flush of the log finds it. Copied into the database it is written once more, and flushed with that. Somebody
 * who reads meanwhile keeps the log, and is waited for some time; a receiver on the same file keeps it for good, and has
 * flushed what it relies on.
 * @returns false where the log was kept
 */
async function beginLogAnew({ database }: Connection): Promise<boolean> {
  const until = performance.now() + LOG_PATIENCE_MS;
  for (const pause of pauses()) {
    const row = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    if (row?.busy !== 1 || row.log === 0) return true;
    if (performance.now() > until) return false;
    await sleep(pause);
  }
  return false;
}

function assemble(
  writer: Connection,
  reader: Connection,
  flusher: Flusher,
  { clock, path }: SqliteOptions,
): Store {
  const queue = new Writer(writer, flusher, () => {
    if (writer.mayCheckpointBeside) checkpointer.committed();
  });
  const rest: Rest = (during) => queue.rest(during);
  const checkpointer = new Checkpointer(path, rest, (cause) => void flusher.failed(cause));
  const access = accessOf(writer, reader, queue);
  const lookUps = new LookUps(reader, flusher);
  let closed: Promise<void> | undefined;
  return {
    dialect: "sqlite",
    find: (key, deadline) => withPatience(deadline, () => lookUps.find(key), busy),
    once: (record, run, options) => once(writer, queue, clock, record, run, options),
    ...commonOperations(access),
    async appendCallbacks(rows) {
      if (rows.length > 0) await access.transact(async () => insertCallbacks(writer, rows));
    },
    broken: flusher.broken,
    async ping() {
      flusher.assertIntact();
      reader.get("SELECT 1");
      writer.get("SELECT 1");
    },
    close() {
      closed ??= (async () => {
        await queue.drain();
        await checkpointer.close();
        await flusher.close();
        if (!flusher.isIntact) keepLog(path);
        reader.close();
        writer.close();
      })();
      return closed;
    },
  };
}

function accessOf(writer: Connection, reader: Connection, queue: Writer): Access {
  const inside = bindQuery<Tables>(sqliteSpelling, async (query) => writer.execute(query));
  const transact: Access["transact"] = (work) =>
    queue.submit(NO_EVENT, performance.now() + PATIENCE_MS, async () => ({
      value: await work(inside),
      keep: true,
    }));
  return {
    dialect: "sqlite",
    read: bindQuery<Tables>(sqliteSpelling, (query) =>
      withPatience(performance.now() + PATIENCE_MS, () => reader.execute(query), busy),
    ),
    write: bindQuery<Tables>(sqliteSpelling, (query) => transact(async () => writer.execute(query))),
    hindrance: busy,
    transact,
  };
}
