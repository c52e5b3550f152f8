import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const IN_MEMORY = "/dev/shm";
/** Containers often have 64 MiB there. */
const MIN_FREE_BYTES = 4 * 1024 ** 3;

/**
 * Where test databases stand: in memory where the system offers it, since most of a run was waiting for flushes of a disk. What
 * SQLite and PostgreSQL ask of the system stays the same; the rounds of test/faults/ have folders of their own.
 */
export function fastFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= MIN_FREE_BYTES ? IN_MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
