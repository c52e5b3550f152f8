import { closeSync, constants, existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { chmod, chown, copyFile, link, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makePrivateFolder, syncFile, syncParentFolder } from "../../system/index.ts";
import type { IntegrityReport } from "../inspection.ts";
import { MaintenanceError } from "../store-errors.ts";
import { primaryCode, transientReason } from "./database-errors.ts";
import { assertReadable, inUseError, partialName } from "./database-file.ts";
import { checkSqlite, FILE_INTACT } from "./inspect.ts";

/** https://sqlite.org/rescode.html: a file in which nothing can be read any more is replaced all the same. */
const DAMAGED: ReadonlySet<number> = new Set([10, 11, 26]);
/** SQLite's files beside a database; found beside another file, they would be applied to that. */
const COMPANIONS = ["-wal", "-shm", "-journal"];

/** The restored copy, and what became of the database that was there before. */
export interface Restored {
  /** An invariant that is broken in it was broken in the database that the copy was made of. */
  readonly copy: IntegrityReport;
  readonly keptAs: string | undefined;
}

interface RestoreOptions {
  readonly from: string;
  readonly path: string;
  /** Whose database it is to be: a copy of another environment's is refused. */
  readonly environment: string;
  readonly now: Date;
}

/** Keeps what was there. @throws MaintenanceError for an unsound copy, or a database in use; nothing is changed then */
export async function restoreSqlite({ from, path: named, environment, now }: RestoreOptions): Promise<Restored> {
  // A link stays one, and what it leads to stays on its disk.
  const path = existsSync(named) ? realpathSync(named) : named;
  assertCopy(from, path);
  makePrivateFolder(dirname(path));
  const partial = partialName(path);
  try {
    await copyFile(from, partial, constants.COPYFILE_EXCL);
    await chmod(partial, 0o600);
    await giveToOwner(partial, path);
    await syncFile(partial);
    // The file that is checked is the one that will be used.
    const copy = await soundCopy(partial, from, environment);
    const keptAs = `${path}.before-${now.toISOString().replace(/[:.]/g, "-")}`;
    const wasThere = await replace(path, partial, keptAs);
    return { copy, keptAs: wasThere ? keptAs : undefined };
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

function assertCopy(from: string, path: string): void {
  assertReadable(from);
  const there = statSync(path, { throwIfNoEntry: false });
  const copy = statSync(from);
  if (there?.ino === copy.ino && there.dev === copy.dev) {
    throw new MaintenanceError(`${from} is the database itself; name a copy that \`oncehook backup\` made of it`);
  }
  if (there?.isDirectory()) throw new MaintenanceError(`DATABASE_URL: ${path} is a folder; name a file in it`);
  // SQLite keeps them beside what a link leads to.
  const source = realpathSync(from);
  const beside = ["-wal", "-journal"].map((end) => source + end).find(holdsChanges);
  if (beside === undefined) return;
  throw new MaintenanceError(
    `${beside} holds a part of ${from}: this is a database that was in use, and no copy. Make one of it with ` +
      "`oncehook backup`, DATABASE_URL being that file",
  );
}

/** A log or journal that was carried out is empty, or begins with zeros. */
function holdsChanges(file: string): boolean {
  if (!existsSync(file)) return false;
  const head = Buffer.alloc(8);
  const opened = openSync(file, "r");
  try {
    readSync(opened, head);
  } finally {
    closeSync(opened);
  }
  return head.some((byte) => byte !== 0);
}

/** The receiver could not open what root has restored. The database that was there, or its folder, shows its owner. */
async function giveToOwner(partial: string, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(path, { throwIfNoEntry: false }) ?? statSync(dirname(path));
  await chown(partial, uid, gid);
}

async function soundCopy(file: string, name: string, environment: string): Promise<IntegrityReport> {
  const copy = await checkSqlite(file);
  const fatal = copy.invariants.filter((one) => one.violations > 0 && one.name === FILE_INTACT);
  if (copy.contents === undefined || fatal.length > 0) {
    const why = fatal.flatMap(({ message, examples }) => `not true: ${message}: ${examples.join(", ")}`);
    throw new MaintenanceError(`${name} is damaged, or no database at all: ${why.join("; ")}`);
  }
  const itsOwn = copy.contents.environment;
  if (itsOwn === null || itsOwn === environment) return copy;
  throw new MaintenanceError(
    `${name} is of the environment "${itsOwn}", and this is APP_ENV=${environment}: environments do not share a ` +
      "database. Name the other's copy, or its environment file with --env",
  );
}

/** Locked until the new file has its name: a process in between waits instead of writing to the old one. */
async function replace(path: string, partial: string, keptAs: string): Promise<boolean> {
  const wasThere = existsSync(path);
  const lock = wasThere ? locked(path) : undefined;
  try {
    // A second name for it: a start would make a new and empty database at an instant without one.
    if (wasThere) await secondName(path, keptAs);
    for (const end of COMPANIONS.filter((one) => existsSync(path + one))) {
      // Taking the lock has checkpointed them; next to an unreadable file they are kept with it.
      await (lock === undefined ? rename(path + end, keptAs + end) : rm(path + end));
    }
    await syncParentFolder(path);
    await rename(partial, path);
    await syncParentFolder(path);
    return wasThere;
  } finally {
    lock?.close();
  }
}

async function secondName(path: string, keptAs: string): Promise<void> {
  try {
    await link(path, keptAs);
  } catch (cause) {
    // Not a copy instead: to close a file takes away every lock that this process has on it.
    throw new MaintenanceError(
      `what is in the place of ${path} cannot be kept as ${keptAs}: ${String(cause)}. Move it away yourself, with the ` +
        "receiver stopped, and restore again",
      { cause },
    );
  }
}

/** Checkpoints and deletes the WAL and takes an exclusive lock; undefined for an unreadable file. */
function locked(path: string): DatabaseSync | undefined {
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
    return database;
  } catch (cause) {
    database.close();
    const code = primaryCode(cause);
    if (code !== undefined && DAMAGED.has(code)) return undefined;
    if (transientReason(cause) === undefined) throw cause;
    throw inUseError(path, cause);
  }
}
