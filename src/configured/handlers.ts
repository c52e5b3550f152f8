import { BUILT_IN_TYPES, type Config } from "../config/index.ts";
import { BUILT_IN_PROTOCOL, errorReason, keySourceOf, PLATFORM } from "../domain/index.ts";
import {
  createRegistry,
  type ExchangeCode,
  type Handler,
  paymentNotify,
  type Registry,
  storeEvent,
  userAuthorized,
  webhookMessage,
} from "../handlers/index.ts";
import {
  CONFIGURATION,
  type HandlerMigration,
  type Migration,
  type OpenedStore,
  type Store,
  type Transaction,
} from "../store/index.ts";
import type { Encryptor } from "../system/index.ts";
import type { ConfiguredSource } from "./configured-sources.ts";
import { credentialMask } from "./masks.ts";
import { StartError } from "./start-error.ts";

export function configuredHandlers(
  { config, handlers: own }: Pick<Loaded, "config" | "handlers">,
  configured: readonly ConfiguredSource[],
  exchange: ExchangeCode,
  encryptor: Encryptor,
): Registry {
  const builtIn = [userAuthorized(exchange, encryptor), paymentNotify, webhookMessage];
  const ofPlatform = builtIn.filter((handler) => config.builtInHandlers.includes(handler.type));
  const others = configured.map(({ name }) => name);
  const unknown = own.find(({ source }) => source !== PLATFORM && !others.includes(source));
  if (unknown !== undefined) throw new StartError(unknownSourceMessage(unknown, others));
  // A source without a handler would keep no event.
  const kept = configured.filter(({ name }) => !own.some(({ source }) => source === name));
  const stored = kept.map(({ name, definition }) => storeEvent(name, (kind) => credentialMask(definition, kind)));
  return createRegistry([...ofPlatform, ...stored], own);
}

function unknownSourceMessage({ source, type }: Handler, known: readonly string[]): string {
  const list =
    known.length === 0 ? `no source beside ${BUILT_IN_PROTOCOL} is configured` : `there are ${known.join(", ")}`;
  return (
    `the handler of "${type}" is for the source ${source}, which is not configured: ${list}. Correct \`source\` of the ` +
    "handler, or add the source to `sources` in oncehook.config.ts or to SOURCES"
  );
}

export const BUILT_IN_TABLES: Readonly<Record<string, { readonly table: string; readonly migration: string }>> = {
  user_authorized: { table: "users", migration: "built-in-users" },
  payment_notify: { table: "orders", migration: "built-in-orders" },
  webhook_message: { table: "messages", migration: "built-in-messages" },
};

export function handlerOptOutHint(type: string): string {
  const others = BUILT_IN_TYPES.filter((other) => other !== type).join(",");
  return (
    `leave the built-in handler ${type} out, with HANDLERS=${others} or HANDLERS=none; or, on PostgreSQL, keep Oncehook's ` +
    "tables apart with DATABASE_SCHEMA=oncehook"
  );
}

function upWithTableHint(migration: Migration, { type }: Handler): Migration["up"] {
  return async (tx) => {
    try {
      await migration.up(tx);
    } catch (cause) {
      if (!isDuplicateTable(cause)) throw cause;
      const isBuiltIn = BUILT_IN_TABLES[type]?.migration === migration.name;
      const remedy = isBuiltIn
        ? handlerOptOutHint(type)
        : `the handler ${type} would make it: give its table another name, or, on PostgreSQL, set DATABASE_SCHEMA`;
      throw new Error(`${errorReason(cause)}; ${remedy}`, { cause });
    }
  };
}

const DUPLICATE_TABLE = "42P07";

function isDuplicateTable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === DUPLICATE_TABLE) || /^table \S+ already exists$/.test(error.message);
}

/** Handlers of one type that have names own their migrations under these. A `#` in the type is not the one before a name. */
function ownerOf({ type, name = type.includes("#") ? "" : undefined }: Handler): string {
  return keySourceOf({ source: type, name });
}

/**
 * The handlers' own tables first, then those of the configuration file. A handler's type and a name are one migration,
 * and so is one that several list.
 * @throws StartError when two have one name and differ
 */
export function migrationsOf(registry: Registry, own: readonly Migration[]): HandlerMigration[] {
  const ofHandlers = registry.handlers.flatMap((handler) =>
    handler.migrations.map((listed) => ({
      owner: ownerOf(handler),
      listed,
      up: upWithTableHint(listed, handler),
    })),
  );
  const ofFile = own.map((listed) => ({
    owner: CONFIGURATION,
    listed,
    up: (tx: Transaction) => listed.up(tx),
  }));
  const all: (HandlerMigration & { handlers: string[]; listed: Migration })[] = [];
  for (const { owner, listed, up } of [...ofHandlers, ...ofFile]) {
    const { name } = listed;
    const named = all.filter((known) => known.name === name);
    // One object in two lists, or two objects around one function.
    const same = named.find((known) => known.listed === listed || known.listed.up === listed.up);
    if (named.some((known) => known !== same && known.handlers.includes(owner)))
      throw new StartError(duplicateNameMessage(name, owner, registry));
    if (same === undefined) all.push({ name, up, handlers: [owner], listed });
    else if (!same.handlers.includes(owner)) same.handlers.push(owner);
  }
  return all;
}

function duplicateNameMessage(name: string, owner: string, registry: Registry): string {
  const versions = registry.handlers
    .filter((handler) => ownerOf(handler) === owner)
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

/** The configuration and the code that a command has loaded. */
export interface Loaded {
  readonly config: Config;
  readonly handlers: readonly Handler[];
  /** Of the configuration file. */
  readonly migrations: readonly Migration[];
}

export interface OpenOptions {
  readonly acceptNewKey?: boolean;
  readonly continuesCopy?: boolean;
  readonly changesNothing?: boolean;
}

/**
 * Opens the database, up to date, for a command that runs no handler: only app/ names the adapters.
 * @param configured its sources, where the command has made them
 */
export type OpenForCommand = (
  loaded: Loaded,
  options?: OpenOptions,
  configured?: readonly ConfiguredSource[],
) => Promise<{ store: Store; applied: OpenedStore["applied"]; registry: Registry; encryptor: Encryptor }>;
