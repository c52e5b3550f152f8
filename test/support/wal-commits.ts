import { readFileSync } from "node:fs";

const FILE_HEADER = 32;
const FRAME_HEADER = 24;
const PAGE_SIZE_AT = 8;
const SALT_AT = 16;

/**
 * How many transactions SQLite has committed since its last checkpoint, from the frames of the write-ahead log: the
 * last frame of each says how large the database is after it (https://sqlite.org/fileformat2.html, part 4.1).
 */
export function walCommits(path: string): number {
  const wal = readFileSync(`${path}-wal`);
  const frame = FRAME_HEADER + wal.readUInt32BE(PAGE_SIZE_AT);
  const salt = wal.subarray(SALT_AT, SALT_AT + 8);
  let commits = 0;
  for (let at = FILE_HEADER; at + frame <= wal.length; at += frame) {
    // What is left of an earlier round of the log has another salt.
    if (!wal.subarray(at + 8, at + 16).equals(salt)) break;
    if (wal.readUInt32BE(at + 4) !== 0) commits += 1;
  }
  return commits;
}
