import { constants, existsSync } from "node:fs";
import { copyFile, link, open, rm } from "node:fs/promises";
import { syncFile, syncParentFolder } from "../../system/index.ts";
import type { IntegrityReport } from "../inspection.ts";
import { MaintenanceError } from "../store-errors.ts";
import { assertReadable, partialName, withReadOnlyDatabase } from "./database-file.ts";
import { checkSqlite } from "./inspect.ts";

const NO_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "ENOSYS"]);

/**
 * Writes a copy of the database as it is at one instant, while it may be in use. The copy appears under its name when it is
 * whole and on the disk.
 * @returns the copy, held against its invariants: what is broken there is broken in the database too
 * @throws MaintenanceError, or the driver's or the system's error; nothing is left behind then
 */
export async function backupSqlite(path: string, to: string): Promise<IntegrityReport> {
  assertReadable(path);
  if (to === "") throw new MaintenanceError("name a file for the copy");
  if (existsSync(to)) throw new MaintenanceError(`${to} exists; name a file that does not`);
  const partial = partialName(to);
  try {
    // SQLite makes it with the rights of any new file; only the owner may read the copy.
    await (await open(partial, "wx", 0o600)).close();
    await withReadOnlyDatabase(path, (database) => database.prepare("VACUUM INTO ?").run(partial));
    const copy = await checkSqlite(partial);
    await syncFile(partial);
    await nameOnce(partial, to);
    await syncParentFolder(to);
    return copy;
  } finally {
    await rm(partial, { force: true });
  }
}

/** Not renamed: that would replace whatever has come to be there in the meantime. */
async function nameOnce(partial: string, to: string): Promise<void> {
  try {
    await link(partial, to);
  } catch (error) {
    // Not every file system can give a file a second name. A copy of the copy is found whole, or is not there.
    if (!NO_LINKS.has(String((error as NodeJS.ErrnoException).code))) throw error;
    try {
      await copyFile(partial, to, constants.COPYFILE_EXCL);
      await syncFile(to);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") await rm(to, { force: true });
      throw cause;
    }
  }
}
