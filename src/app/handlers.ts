import type { Config } from "../config/index.ts";
import {
  createRegistry,
  type ExchangeCode,
  type Handler,
  paymentNotify,
  type Registry,
  userAuthorized,
  webhookMessage,
} from "../handlers/index.ts";
import type { Sealer } from "../seal/index.ts";
import type { Migration } from "../store/index.ts";

/** The built-in handlers that `HANDLERS` leaves on, and the user's own in front of them. */
export function configuredHandlers(
  config: Config,
  own: readonly Handler[],
  exchange: ExchangeCode,
  sealer: Sealer,
): Registry {
  const builtIn = [userAuthorized({ exchange, sealer }), paymentNotify, webhookMessage];
  return createRegistry(
    builtIn.filter((handler) => config.builtInHandlers.includes(handler.type)),
    own,
  );
}

/** The handlers' own tables first, then those of the configuration file; one name is one migration. */
export function migrationsOf(registry: Registry, own: readonly Migration[]): Migration[] {
  const all = [...registry.handlers.flatMap((handler) => handler.migrations), ...own];
  return [...new Map(all.map((migration) => [migration.name, migration])).values()];
}
