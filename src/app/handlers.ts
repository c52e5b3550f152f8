import { BUILT_IN_TYPES, type Config } from "../config/index.ts";
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
import { reasonOf } from "./reason.ts";

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

/** The tables that the built-in handlers make, by their types. */
export const BUILT_IN_TABLES: Readonly<
  Record<string, { readonly table: string; readonly migration: string }>
> = {
  user_authorized: { table: "users", migration: "built-in-users" },
  payment_notify: { table: "orders", migration: "built-in-orders" },
  webhook_message: { table: "messages", migration: "built-in-messages" },
};

/** How to do without a built-in handler, or to keep its table apart. */
export function leaveOut(type: string): string {
  const others = BUILT_IN_TYPES.filter((other) => other !== type).join(",");
  return (
    `leave the built-in handler ${type} out, with HANDLERS=${others} or HANDLERS=none; or, on PostgreSQL, keep Oncehook's ` +
    "tables apart with DATABASE_SCHEMA=oncehook"
  );
}

/** Says what to do where a handler's migration meets a table that is there already. */
function explained(migration: Migration, handler: Handler): Migration {
  return {
    ...migration,
    async up(tx) {
      try {
        await migration.up(tx);
      } catch (cause) {
        if (!isThere(cause)) throw cause;
        const isBuiltIn = BUILT_IN_TABLES[handler.type]?.migration === migration.name;
        const remedy = isBuiltIn
          ? leaveOut(handler.type)
          : `the handler ${handler.type} would make it: give its table another name, or, on PostgreSQL, set DATABASE_SCHEMA`;
        throw new Error(`${reasonOf(cause)}; ${remedy}`, { cause });
      }
    },
  };
}

const DUPLICATE_TABLE = "42P07";

function isThere(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    ("code" in error && error.code === DUPLICATE_TABLE) || /^table \S+ already exists$/.test(error.message)
  );
}

/** The handlers' own tables first, then those of the configuration file; one name is one migration. */
export function migrationsOf(registry: Registry, own: readonly Migration[]): Migration[] {
  const ofHandlers = registry.handlers.flatMap((handler) =>
    handler.migrations.map((migration) => explained(migration, handler)),
  );
  const all = [...ofHandlers, ...own];
  return [...new Map(all.map((migration) => [migration.name, migration])).values()];
}
