/**
 * Whether one connection may copy the log while another one commits. Before 3.51.3 (3.50.7 and 3.44.6 in their lines) SQLite
 * could then take a log that had just begun anew for copied, and lose what it held: https://sqlite.org/wal.html#walresetbug
 * @param version as `sqlite_version()` tells it: a Node may be linked with another SQLite than it was made with
 */
export function mayCheckpointBeside(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (major !== 3) return major > 3;
  const mended = MENDED_IN.get(minor);
  return mended === undefined ? minor > NEWEST_BEFORE : patch >= mended;
}

const NEWEST_BEFORE = 51;
const MENDED_IN = new Map([
  [44, 6],
  [50, 7],
  [NEWEST_BEFORE, 3],
]);
