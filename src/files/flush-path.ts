import { open } from "node:fs/promises";
import { dirname } from "node:path";

/** What a file holds is on the disk afterwards. */
export async function flushFile(path: string): Promise<void> {
  await flush(path, "r+");
}

/** A new file is found again after a power failure only when its folder is on the disk too; Windows needs no such word. */
export async function flushFolder(path: string): Promise<void> {
  if (process.platform !== "win32") await flush(dirname(path), "r");
}

async function flush(path: string, mode: string): Promise<void> {
  const handle = await open(path, mode);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
