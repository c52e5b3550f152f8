import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";

const WRITABLE = 0o002;
/** In such a folder, as /tmp is, only the owner of a file renames or removes it. */
const STICKY = 0o1000;

/**
 * The paths by which every user of the machine could change these files: themselves, their folder, or one above it. Group
 * rights pass, since Kubernetes gives them on purpose (`fsGroup`). Always empty on Windows, where mode bits say nothing.
 * @param files of one folder; those that do not exist are passed over
 */
export function writableByOthers(files: readonly string[]): string[] {
  const [first] = files;
  if (process.platform === "win32" || first === undefined) return [];
  const writable = files.filter((file) => hasMode(file, (mode) => (mode & WRITABLE) !== 0));
  let folder = realOf(dirname(first));
  // A user who may create files in it may create the one that SQLite reads as its WAL.
  if (hasMode(folder, (mode) => (mode & WRITABLE) !== 0)) writable.push(folder);
  while (dirname(folder) !== folder) {
    folder = dirname(folder);
    if (hasMode(folder, (mode) => (mode & WRITABLE) !== 0 && (mode & STICKY) === 0)) writable.push(folder);
  }
  return writable;
}

/** A path with its links resolved; unchanged where it does not exist, or cannot be read. */
export function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** False for a path that does not exist, or cannot be read, as under Node's permission model. */
function hasMode(path: string, test: (mode: number) => boolean): boolean {
  try {
    return test(statSync(path).mode);
  } catch {
    return false;
  }
}

/** Writes a file's content through to the disk. */
export async function syncFile(path: string): Promise<void> {
  await sync(path, "r+");
}

/** A new file survives a power failure only if its folder is on the disk too; Windows needs no such sync. */
export async function syncParentFolder(path: string): Promise<void> {
  if (process.platform !== "win32") await sync(dirname(path), "r");
}

async function sync(path: string, mode: string): Promise<void> {
  const handle = await open(path, mode);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Makes a folder, and those above it, readable only by the owner. Not `mkdirSync` with `recursive`, which loops for ever
 * where an existing folder takes no other (`/proc`).
 * @throws the system's error
 */
export function makePrivateFolder(folder: string): void {
  if (existsSync(folder)) return;
  makePrivateFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Two processes may start at once.
    if (!existsSync(folder)) throw error;
  }
}
