import { open } from "node:fs/promises";

/** From here on no file takes a flush, as on a disk that fails. @returns what ends that */
export async function failFlushes(path: string): Promise<() => void> {
  const handle = await open(path);
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  const { datasync } = prototype;
  prototype.datasync = () => Promise.reject(new Error("EIO: i/o error, fdatasync"));
  return () => {
    prototype.datasync = datasync;
  };
}
