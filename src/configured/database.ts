import type { Config } from "../config/index.ts";
import { shellWord } from "../domain/index.ts";
import type { KeyStamp } from "../store/index.ts";
import { encryptionKeyId, realOf, writableByOthers } from "../system/index.ts";

export function networkWarnings(database: Config["database"]): string[] {
  if (database.kind === "sqlite" || database.unverifiedHost === null) return [];
  const isAddress = typeof database.connection === "string";
  return [
    `${isAddress ? "DATABASE_URL" : "database"} leads over a network, to ${database.unverifiedHost}, without verified TLS: an attacker on the network path can read the ` +
      `password and the events, or answer as the database; ${isAddress ? "sslmode=verify-full" : "ssl: true"} prevents it`,
  ];
}

/**
 * Whether to warn that a database was used with another address. In development an address that is not set is the
 * listener's. It follows the port, and no platform has it registered.
 */
export function baseUrlChanged(config: Config, previous: string | undefined): previous is string {
  if (previous === undefined || previous === config.baseUrl) return false;
  return config.isBaseUrlGiven || config.environment !== "development";
}

export function keyStamp({ encryptionKey, previousEncryptionKeys }: Config): KeyStamp {
  return { current: encryptionKeyId(encryptionKey), previous: previousEncryptionKeys.map(encryptionKeyId) };
}

/** A warning where other users of this machine may change the embedded database, with the command that ends it. */
export function writableByOthersWarnings({ database }: Config): string[] {
  if (database.kind !== "sqlite") return [];
  // Both ends of a link count: its folder decides which database is opened, and the WAL is beside its target.
  const found = [database.path, realOf(database.path)].flatMap((path) =>
    writableByOthers([path, `${path}-wal`, `${path}-shm`]),
  );
  const writable = [...new Set(found)];
  if (writable.length === 0) return [];
  return [
    `DATABASE_URL: every user of this machine can write ${writable.join(", ")}, and so change what was handled; ` +
      `expected this user alone. Run: chmod o-w ${writable.map(shellWord).join(" ")}`,
  ];
}
