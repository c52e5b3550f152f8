import { existsSync } from "node:fs";
import { chmod, copyFile, link, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { BackupRefused } from "../backup-refused.ts";
import type { CheckedInvariant } from "../invariants.ts";
import { checkSqliteInvariants } from "./check-invariants.ts";

/** How long the start of a copy may wait for a database that is busy. */
const PATIENCE_MS = 5_000;

/**
 * Writes a copy of the database as it is at one instant, while it may be in use. The copy appears under its name when it is
 * whole, found sound and on the disk.
 * @throws BackupRefused, or the driver's or the system's error; nothing is left behind then
 */
export async function backupSqlite(path: string, to: string): Promise<CheckedInvariant[]> {
  if (!existsSync(path)) throw new BackupRefused(`there is no database at ${path}`);
  if (existsSync(to)) throw new BackupRefused(`${to} exists; name a file that does not`);
  const partial = `${to}.partial`;
  await rm(partial, { force: true });
  try {
    // SQLite makes it with the rights of any new file; what it will hold is the owner's alone.
    await (await open(partial, "wx", 0o600)).close();
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      database.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}`);
      database.prepare("VACUUM INTO ?").run(partial);
    } finally {
      database.close();
    }
    const invariants = checkSqliteInvariants(partial);
    await settle(partial, to);
    return invariants;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** What a restore did with the database that was there before. */
export interface Restored {
  readonly invariants: readonly CheckedInvariant[];
  readonly keptAs: string | undefined;
}

/**
 * Puts a copy in the place of the database. What was there is kept beside it.
 * @param now names what is kept
 * @throws BackupRefused where the copy is not sound or the database is in use; nothing is changed then
 */
export async function restoreSqlite(from: string, path: string, now: Date): Promise<Restored> {
  if (!existsSync(from)) throw new BackupRefused(`there is no file ${from}`);
  const invariants = soundness(from);
  const unsound = invariants.filter(({ broken }) => broken > 0);
  if (unsound.length > 0) {
    throw new BackupRefused(
      `${from} does not add up: ${unsound.map(({ says }) => `not true: ${says}`).join("; ")}`,
    );
  }
  const partial = `${path}.partial`;
  await rm(partial, { force: true });
  await copyFile(from, partial);
  await chmod(partial, 0o600);
  const keptAs = existsSync(path) ? `${path}.before-${now.toISOString().replace(/[:.]/g, "-")}` : undefined;
  if (keptAs !== undefined) {
    try {
      closeForGood(path);
    } catch (cause) {
      await rm(partial, { force: true });
      throw new BackupRefused(`${path} is in use; stop the receiver first`, { cause });
    }
    // A second name for it: at no instant is there no database, for which a start would make a new and empty one.
    await link(path, keptAs);
  }
  await settle(partial, path);
  return { invariants, keptAs };
}

function soundness(file: string): CheckedInvariant[] {
  try {
    return checkSqliteInvariants(file);
  } catch (cause) {
    throw new BackupRefused(`${file} is no copy of Oncehook's database: ${String(cause)}`, { cause });
  }
}

/** Copies the log into the file and deletes it, so that the file is all there is; refused while anybody else has it open. */
function closeForGood(path: string): void {
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT; PRAGMA journal_mode = DELETE");
  } finally {
    database.close();
  }
}

/** Flushed before it gets its name, and its name after that: a power failure leaves the old state or the new one. */
async function settle(partial: string, to: string): Promise<void> {
  await flush(partial);
  await rename(partial, to);
  if (process.platform !== "win32") await flush(dirname(to));
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
