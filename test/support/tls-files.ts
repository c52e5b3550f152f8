import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pair } from "./certificate.ts";

/** The files of a certificate and its key, in a folder that is gone afterwards. */
export async function withFiles<T>(
  pair: Pair,
  use: (files: { certFile: string; keyFile: string }) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-tls-"));
  const files = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
  try {
    await write(files, pair);
    return await use(files);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function write(files: { certFile: string; keyFile: string }, pair: Pair): Promise<void> {
  await writeFile(files.certFile, pair.cert);
  await writeFile(files.keyFile, pair.key);
}
