import type { Config } from "../config/index.ts";
import { systemClock } from "../domain/index.ts";
import type { Handler } from "../handlers/index.ts";
import { createSealer } from "../seal/index.ts";
import type { Migration, MigrationReport } from "../store/index.ts";
import { configuredHandlers, migrationsOf } from "./handlers.ts";
import { connect } from "./open-store.ts";

/** Brings the database up to date without serving. @throws MigrationRefused */
export async function migrate(
  config: Config,
  handlers: readonly Handler[],
  own: readonly Migration[],
  options: { readonly acceptNewKey: boolean },
): Promise<MigrationReport> {
  const { store, report } = await connect(config, allMigrations(config, handlers, own), systemClock, options);
  await store.close();
  return report;
}

/** Those of the configured handlers and of the configuration file, for a command that runs no handler. */
export function allMigrations(
  config: Config,
  handlers: readonly Handler[],
  own: readonly Migration[],
): readonly Migration[] {
  const exchange = () => Promise.reject(new Error("nothing is exchanged while migrating"));
  const registry = configuredHandlers(config, handlers, exchange, createSealer(config.encryptionKey));
  return migrationsOf(registry, own);
}
