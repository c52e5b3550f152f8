import { readFile, stat } from "node:fs/promises";
import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { createSecureContext } from "node:tls";
import { fileErrorText, type Log } from "../domain/index.ts";
import { createPoller } from "../system/index.ts";

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly files: TlsFiles;
  /** Taken before the files are read, so that whatever changes them from then on is seen. */
  readonly fingerprint: string | undefined;
}

const CHECK_INTERVAL_MS = 5_000;

/** The certificate and the key cannot be used; the message names the file and what is wrong with it. */
export class TlsUnusable extends Error {
  override readonly name = "TlsUnusable";
}

/** @throws TlsUnusable */
export async function readTlsPair(files: TlsFiles): Promise<TlsPair> {
  const { certFile, keyFile } = files;
  // If this fails, the reading below fails too, and its error says why.
  const seen = await fingerprint(files).catch(() => undefined);
  const [cert, key] = await Promise.all([read("TLS_CERT_FILE", certFile), read("TLS_KEY_FILE", keyFile)]);
  assertUsable({ cert }, `TLS_CERT_FILE: got "${certFile}", which is not a certificate in PEM`);
  assertUsable({ key }, `TLS_KEY_FILE: got "${keyFile}", which is not a private key in PEM without a passphrase`);
  const words = `TLS_KEY_FILE: got "${keyFile}", which is not the key of the certificate in "${certFile}" (TLS_CERT_FILE)`;
  assertUsable({ cert, key }, words);
  return { cert, key, files, fingerprint: seen };
}

function assertUsable(part: Partial<TlsPair>, words: string): void {
  try {
    createSecureContext(part);
  } catch (cause) {
    throw new TlsUnusable(`${words}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

async function read(variable: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new TlsUnusable(`${variable}: got "${file}", which ${fileErrorText(cause)}`, { cause });
  }
}

/**
 * Takes a renewed certificate into use for new connections; open ones stay as they are. The files' times are compared:
 * a renewal often swaps a link, which a watch on the file would not see. A pair that does not fit (one file written,
 * the other not yet) is left for the next look.
 * @param server one that speaks TLS
 * @returns stops it
 */
export function reloadOnChange(
  { files, fingerprint: loaded }: TlsPair,
  server: HttpServer | HttpsServer,
  log: Log,
  everyMs = CHECK_INTERVAL_MS,
): () => Promise<void> {
  let seen = loaded;
  const check = async (): Promise<void> => {
    const found = await fingerprint(files);
    if (found === seen) return;
    (server as HttpsServer).setSecureContext({ ...(await readTlsPair(files)), minVersion: "TLSv1.2" });
    seen = found;
    log.info({ cert_file: files.certFile }, "the TLS certificate was reloaded");
  };
  const poller = createPoller(check, (error) =>
    log.warn({ err: error }, "the TLS files changed but cannot be used; the old ones stay"),
  );
  poller.start(everyMs);
  return poller.stop;
}

async function fingerprint({ certFile, keyFile }: TlsFiles): Promise<string> {
  const [cert, key] = await Promise.all([stat(certFile), stat(keyFile)]);
  return [cert.mtimeMs, cert.ino, cert.size, key.mtimeMs, key.ino, key.size].join(" ");
}
