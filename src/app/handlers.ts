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
import { CONFIGURATION, type Migration, type OwnedMigration } from "../store/index.ts";
import { StartRefused } from "./start-refused.ts";

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

/**
 * The handlers' own tables first, then those of the configuration file. A handler's type and a name are one migration,
 * and so is one that several list.
 * @throws StartRefused when two are named alike and cannot be told apart
 */
export function migrationsOf(registry: Registry, own: readonly Migration[]): OwnedMigration[] {
  const lists = registry.handlers.map(({ type, migrations }) => ({ owner: type, migrations }));
  const all: (OwnedMigration & { handlers: string[]; listed: Migration })[] = [];
  for (const { owner, migrations } of [...lists, { owner: CONFIGURATION, migrations: own }]) {
    for (const listed of migrations) {
      const { name } = listed;
      const same = all.find((known) => known.name === name && isSame(known.listed, listed));
      const other = all.find(
        (known) => known.name === name && known !== same && known.handlers.includes(owner),
      );
      if (other !== undefined) throw new StartRefused(namedAlike(name, owner, registry));
      if (same === undefined) all.push({ name, up: (tx) => listed.up(tx), handlers: [owner], listed });
      else if (!same.handlers.includes(owner)) same.handlers.push(owner);
    }
  }
  return all;
}

/** One object in two lists, or two objects around one function. */
function isSame(one: Migration, other: Migration): boolean {
  return one === other || one.up === other.up;
}

function namedAlike(name: string, owner: string, registry: Registry): string {
  const versions = registry.handlers
    .filter(({ type }) => type === owner)
    .map((handler) => handler.versions.join(" and "));
  const owners =
    owner === CONFIGURATION
      ? "the configuration file's `migrations`"
      : `the handlers of "${owner}" (in ${versions.join(", and in ")})`;
  return (
    `migrations: two different ones of ${owners} are named "${name}", so that only one of them would be applied; give one of ` +
    "them another name, or list one migration object in both places where both mean the same tables"
  );
}
