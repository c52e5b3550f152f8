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
  const exchange = () => Promise.reject(new Error("nothing is exchanged while migrating"));
  const registry = configuredHandlers(config, handlers, exchange, createSealer(config.encryptionKey));
  const { store, report } = await connect(
    config,
    migrationsOf(registry, own),
    systemClock,
    options.acceptNewKey,
  );
  await store.close();
  return report;
}
