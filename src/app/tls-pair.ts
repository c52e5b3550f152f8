import { type Config, ConfigError } from "../config/index.ts";
import { readTlsPair, type TlsPair, TlsUnusable } from "../http/index.ts";

/** The configured certificate and key, null without. @throws ConfigError that names the file that is wrong */
export async function tlsPair({ listen }: Config): Promise<TlsPair | null> {
  if (listen.tls === undefined) return null;
  try {
    return await readTlsPair(listen.tls);
  } catch (error) {
    throw error instanceof TlsUnusable ? new ConfigError([error.message]) : error;
  }
}
