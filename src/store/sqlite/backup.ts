import { existsSync } from "node:fs";
import { link, open, rm } from "node:fs/promises";
import { flushFile, flushFolder } from "../../files/index.ts";
import { BackupRefused } from "../backup-refused.ts";
import type { CheckedInvariant } from "../invariants.ts";
import { checkSqliteInvariants } from "./check-invariants.ts";
import { lookingAt } from "./looking-at.ts";

/**
 * Writes a copy of the database as it is at one instant, while it may be in use. The copy appears under its name when it is
 * whole and on the disk.
 * @returns what does not hold in it, nor in the database that it was made of
 * @throws BackupRefused, or the driver's or the system's error; nothing is left behind then
 */
export async function backupSqlite(path: string, to: string): Promise<CheckedInvariant[]> {
  if (!existsSync(path)) throw new BackupRefused(`there is no database at ${path}`);
  if (existsSync(to)) throw new BackupRefused(`${to} exists; name a file that does not`);
  const partial = `${to}.partial-${process.pid}`;
  try {
    // SQLite makes it with the rights of any new file; what it will hold is the owner's alone.
    await (await open(partial, "wx", 0o600)).close();
    lookingAt(path, (database) => database.prepare("VACUUM INTO ?").run(partial));
    const broken = checkSqliteInvariants(partial).filter((one) => one.broken > 0);
    await flushFile(partial);
    // Not renamed: that would replace whatever has come to be there in the meantime.
    await link(partial, to);
    await flushFolder(to);
    return broken;
  } finally {
    await rm(partial, { force: true });
  }
}
