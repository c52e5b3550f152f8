import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

const WRITABLE = 0o002;
/** In such a folder, as /tmp is, only the owner of a file renames or removes it. */
const STICKY = 0o1000;

/**
 * What lets every user of the machine change these files: themselves, their folder, or one above it. Group rights are not
 * judged, since Kubernetes gives them on purpose (`fsGroup`). Always empty on Windows, where mode bits say nothing.
 * @param files of one folder; those that do not exist are passed over
 */
export function writableByOthers(files: readonly string[]): string[] {
  const [first] = files;
  if (process.platform === "win32" || first === undefined) return [];
  const writable = files.filter((file) => hasMode(file, (mode) => (mode & WRITABLE) !== 0));
  let folder = realOf(dirname(first));
  // Whoever may make files in it, may make the one that SQLite reads as its log.
  if (hasMode(folder, (mode) => (mode & WRITABLE) !== 0)) writable.push(folder);
  while (dirname(folder) !== folder) {
    folder = dirname(folder);
    if (hasMode(folder, (mode) => (mode & WRITABLE) !== 0 && (mode & STICKY) === 0)) writable.push(folder);
  }
  return writable;
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/** False for what does not exist, or cannot be looked at, as under Node's permission model. */
function hasMode(path: string, test: (mode: number) => boolean): boolean {
  try {
    return test(statSync(path).mode);
  } catch {
    return false;
  }
}
