import { existsSync, statSync } from "node:fs";
import { chmod, chown, copyFile, link, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { flushFile, flushFolder, makeFolder } from "../../files/index.ts";
import { BackupRefused } from "../backup-refused.ts";
import type { CheckedInvariant } from "../invariants.ts";
import { checkSqliteInvariants, FILE_CHECKS } from "./check-invariants.ts";
import { busy, primaryCode } from "./hindrance.ts";

/** https://sqlite.org/rescode.html: a file in which nothing can be read any more is replaced all the same. */
const DAMAGED: ReadonlySet<number> = new Set([10, 11, 26]);
/** What SQLite keeps beside a database; found beside another file, it would be applied to that. */
const COMPANIONS = ["-wal", "-shm", "-journal"];

/** What a restore did with the database that was there before. */
export interface Restored {
  /** What does not hold in the copy; it was in the database that the copy was made of. */
  readonly broken: readonly CheckedInvariant[];
  readonly keptAs: string | undefined;
}

/**
 * Puts a copy in the place of the database, and keeps what was there beside it, damaged or not.
 * @param now names what is kept
 * @throws BackupRefused where the copy is not sound, or the database is in use; nothing is changed then
 */
export async function restoreSqlite(from: string, path: string, now: Date): Promise<Restored> {
  if (!existsSync(from)) throw new BackupRefused(`there is no file ${from}`);
  const beside = COMPANIONS.find((end) => end !== "-shm" && (sizeOf(from + end) ?? 0) > 0);
  if (beside !== undefined) {
    throw new BackupRefused(
      `${from}${beside} holds a part of ${from}: this is a database that was in use, and no copy. Make one of it with ` +
        "`oncehook backup`, DATABASE_URL being that file",
    );
  }
  makeFolder(dirname(path));
  const partial = `${path}.partial`;
  try {
    await rm(partial, { force: true });
    await copyFile(from, partial);
    await chmod(partial, 0o600);
    await giveToOwner(partial, path);
    await flushFile(partial);
    // What is checked is what will be used.
    const broken = checked(partial, from);
    const keptAs = `${path}.before-${now.toISOString().replace(/[:.]/g, "-")}`;
    const wasThere = await replace(path, partial, keptAs);
    return { broken, keptAs: wasThere ? keptAs : undefined };
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** The receiver could not open what root has restored; the database that was there, or its folder, tells whose it is. */
async function giveToOwner(partial: string, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(path, { throwIfNoEntry: false }) ?? statSync(dirname(path));
  await chown(partial, uid, gid);
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

function checked(file: string, name: string): CheckedInvariant[] {
  let broken: CheckedInvariant[];
  try {
    broken = checkSqliteInvariants(file).filter((one) => one.broken > 0);
  } catch (cause) {
    throw new BackupRefused(`${name} is no copy of Oncehook's database: ${String(cause)}`, { cause });
  }
  const fatal = broken.filter((one) => FILE_CHECKS.has(one.name));
  if (fatal.length === 0) return broken;
  throw new BackupRefused(`${name} is damaged: ${fatal.map(({ says }) => `not true: ${says}`).join("; ")}`);
}

/** The lock is held until the new file has its name: who comes in between waits, and does not write to the old one. */
async function replace(path: string, partial: string, keptAs: string): Promise<boolean> {
  const wasThere = existsSync(path);
  const lock = wasThere ? locked(path) : undefined;
  try {
    // A second name for it: at no instant is there no database, for which a start would make a new and empty one.
    if (wasThere) await secondName(path, keptAs);
    for (const end of COMPANIONS) if (existsSync(path + end)) await rename(path + end, keptAs + end);
    await flushFolder(path);
    await rename(partial, path);
    await flushFolder(path);
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
    throw new BackupRefused(
      `what is in the place of ${path} cannot be kept as ${keptAs}: ${String(cause)}. Move it away yourself, with the ` +
        "receiver stopped, and restore again",
      { cause },
    );
  }
}

/** Copies the log into the file and deletes it, and locks everybody out; undefined for a file that cannot be read. */
function locked(path: string): DatabaseSync | undefined {
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
    return database;
  } catch (cause) {
    database.close();
    const code = primaryCode(cause);
    if (code !== undefined && DAMAGED.has(code)) return undefined;
    if (busy(cause) === undefined) throw cause;
    throw new BackupRefused(
      `${path} is in use; stop the receiver first, and keep its service manager from starting it`,
      {
        cause,
      },
    );
  }
}
