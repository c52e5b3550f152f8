import { constants, DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { CompiledQuery, QueryResult } from "kysely";
import { getOrMake } from "../../domain/index.ts";
import { isConcurrentCheckpointSafe } from "./checkpointer.ts";

/** Of a group's member; refused to handlers. */
export const MEMBER_SAVEPOINT = "oncehook_member";
const STATEMENTS_KEPT = 256;
const OPEN_BUSY_TIMEOUT_MS = 5_000;
/** In pages: 128 MB. */
const AUTOCHECKPOINT_PAGES = 32_768;
/** Without this limit the WAL file keeps its greatest length; this is twice its usual length. */
export const WAL_SIZE_LIMIT_BYTES = 64 * 1_024 * 1_024;
/** In pages; SQLite's own choice. */
const DEFAULT_AUTOCHECKPOINT_PAGES = 1_000;

const ENDS =
  "Oncehook commits the transaction with the event's record. Throw to roll it back; use a SAVEPOINT for parts";
const ATTACHES =
  "another database would stay attached for the events after this one, and SQLite does not commit two of them as one";
const TEMPORARY =
  "a temporary table, view or trigger would stay for the events after this one, and hides what has its name; use a table " +
  "of your own, or WITH";
const SETS = (pragma: string | null) =>
  `PRAGMA ${pragma} would stay set for the events after this one, and for Oncehook itself`;
/** With a value they look something up, hold only for the transaction, or are part of the database. */
const PRAGMAS = new Set([
  "table_info",
  "table_xinfo",
  "table_list",
  "index_list",
  "index_info",
  "index_xinfo",
  "foreign_key_list",
  "foreign_key_check",
  "integrity_check",
  "quick_check",
  "optimize",
  "defer_foreign_keys",
  // Means nothing inside a transaction (https://sqlite.org/pragma.html#pragma_foreign_keys).
  "foreign_keys",
  "user_version",
  "application_id",
]);

const READS = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
]);

function mayRun(pragma: string | null, value: string | null): boolean {
  const name = pragma?.toLowerCase() ?? "";
  return value === null ? name !== "wal_checkpoint" : PRAGMAS.has(name);
}

interface Compiled<T> {
  readonly value: T;
  readonly isWriting: boolean;
  readonly outlivesMember: boolean;
}

interface Prepared extends Omit<Compiled<unknown>, "value"> {
  readonly statement: StatementSync;
  readonly hasRows: boolean;
}

/** One SQLite connection with its prepared statements; every call is synchronous. */
export class Connection {
  readonly database: DatabaseSync;
  readonly #statements = new Map<string, Prepared>();
  /** Whether another connection may copy the log while this one commits. */
  readonly canCheckpointConcurrently: boolean;
  /** While a handler uses it, no statement may begin, commit or roll back. */
  isInHandler = false;
  /** Why SQLite refused a handler's statement; the driver's error is only "not authorized". */
  refusal: string | undefined;
  /** Set by each statement that may have written; the writer clears it before each member of a group. */
  hasWritten = false;
  /** Set by a handler's savepoint or PRAGMA, which lasts until COMMIT: the group must end with this member. */
  outlivesMember = false;

  constructor(path: string) {
    this.database = new DatabaseSync(path, { enableForeignKeyConstraints: true });
    // Only while opening may SQLite itself wait: later a wait would stop every other request of the process.
    this.database.exec(`PRAGMA busy_timeout = ${OPEN_BUSY_TIMEOUT_MS}`);
    this.database.exec("PRAGMA journal_mode = WAL");
    // `Flusher` flushes the log after each commit, before any response, off the event loop.
    this.database.exec("PRAGMA synchronous = NORMAL");
    const { version } = this.database.prepare("SELECT sqlite_version() AS version").get() as {
      version: string;
    };
    this.canCheckpointConcurrently = isConcurrentCheckpointSafe(version);
    // The log is copied by `Checkpointer` long before, where it may be; this is for the day it cannot.
    const longest = this.canCheckpointConcurrently ? AUTOCHECKPOINT_PAGES : DEFAULT_AUTOCHECKPOINT_PAGES;
    this.database.exec(`PRAGMA wal_autocheckpoint = ${longest}`);
    this.database.exec(`PRAGMA journal_size_limit = ${WAL_SIZE_LIMIT_BYTES}`);
    this.database.exec("PRAGMA trusted_schema = OFF");
    this.database.exec("PRAGMA busy_timeout = 0");
    // Asked when a statement is compiled: a text that hides a COMMIT among others is refused as a whole.
    this.database.setAuthorizer((action, first, second, schema) => {
      this.hasWritten ||= !READS.has(action);
      if (!this.isInHandler) return constants.SQLITE_OK;
      this.outlivesMember ||=
        action === constants.SQLITE_SAVEPOINT || (action === constants.SQLITE_PRAGMA && second !== null);
      const refusal = this.#refusalOf(action, first, second, schema);
      this.refusal ??= refusal;
      return refusal === undefined ? constants.SQLITE_OK : constants.SQLITE_DENY;
    });
  }

  /** The two texts are what SQLite's documentation of each action code says. */
  #refusalOf(action: number, first: string | null, second: string | null, schema: string | null): string | undefined {
    const isOwnSavepoint = action === constants.SQLITE_SAVEPOINT && second?.toLowerCase() === MEMBER_SAVEPOINT;
    if (action === constants.SQLITE_TRANSACTION || isOwnSavepoint) return ENDS;
    if (action === constants.SQLITE_ATTACH || action === constants.SQLITE_DETACH) return ATTACHES;
    if (action === constants.SQLITE_PRAGMA && !mayRun(first, second)) return SETS(first);
    const isTemporary = schema === "temp" && /^sqlite_(?:temp_)?master$/.test(first ?? "");
    return action === constants.SQLITE_INSERT && isTemporary ? TEMPORARY : undefined;
  }

  /** The prepared statement for a text; the oldest ones are dropped, since handlers may write values into their texts. */
  #prepared(sql: string): Prepared {
    const prepared = getOrMake(this.#statements, sql, () => {
      const { value: statement, ...marks } = this.compile(() => this.database.prepare(sql));
      assertOneStatement(sql, statement);
      const [oldest] = this.#statements.keys();
      if (this.#statements.size >= STATEMENTS_KEPT && oldest !== undefined) this.#statements.delete(oldest);
      // Asking a statement for its columns costs as much as running a small one. A table that changes under `*` does
      // not make a statement with columns one without.
      return { statement, hasRows: statement.columns().length > 0, ...marks };
    });
    this.hasWritten ||= prepared.isWriting;
    this.outlivesMember ||= prepared.outlivesMember;
    return prepared;
  }

  /** Compiles what a statement or a handler asks for. @returns with it what the authorizer was asked meanwhile */
  compile<T>(prepare: () => T): Compiled<T> {
    const { hasWritten, outlivesMember } = this;
    this.hasWritten = false;
    this.outlivesMember = false;
    try {
      const value = prepare();
      return { value, isWriting: this.hasWritten, outlivesMember: this.outlivesMember };
    } finally {
      this.hasWritten ||= hasWritten;
      this.outlivesMember ||= outlivesMember;
    }
  }

  run(sql: string, ...values: SQLInputValue[]): { changes: number; lastId: number } {
    const { changes, lastInsertRowid } = this.#prepared(sql).statement.run(...values);
    return { changes: Number(changes), lastId: Number(lastInsertRowid) };
  }

  get(sql: string, ...values: SQLInputValue[]): unknown {
    return this.#prepared(sql).statement.get(...values);
  }

  execute({ sql, parameters }: Pick<CompiledQuery, "sql" | "parameters">): QueryResult<unknown> {
    const { statement, hasRows } = this.#prepared(sql);
    const values = parameters.map(toSqliteValue);
    if (hasRows) return { rows: statement.all(...values) };
    const { changes, lastInsertRowid } = statement.run(...values);
    const numAffectedRows = BigInt(changes);
    // Without a change its id would be that of an earlier event's row: all share the connection.
    if (numAffectedRows === 0n) return { rows: [], numAffectedRows };
    return { rows: [], numAffectedRows, insertId: BigInt(lastInsertRowid) };
  }

  close(): void {
    if (this.database.isOpen) this.database.close();
  }
}

const NOTHING = /^(?:\s|;|--[^\n]*\n|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*(?:--[^\n]*)?$/;

/** SQLite compiles the first statement of a text and says nothing of the others. */
function assertOneStatement(sql: string, statement: StatementSync): void {
  const rest = sql.slice(statement.sourceSQL.length);
  if (NOTHING.test(rest)) return;
  throw new Error(
    `one statement at a time: "${rest.trim().slice(0, 40)}" comes after the first; run each by itself, or all of them ` +
      "with tx.connection.exec()",
  );
}

/**
 * SQLite has no booleans and no dates; the driver refuses them instead of choosing. It takes another object in the first place
 * for named values. One without members would shift all values after it.
 * @throws TypeError
 */
export function toSqliteValue(value: unknown, index: number): SQLInputValue {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value === undefined) return null;
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  if (!isObject || ArrayBuffer.isView(value)) return value as SQLInputValue;
  if (value instanceof Date) return value.toISOString();
  throw new TypeError(
    `value ${index + 1} of the statement is of the type ${value.constructor?.name ?? "Object"}; expected a string, ` +
      "number, bigint, boolean, Date, Uint8Array or null. Convert it first, with JSON.stringify() for example",
  );
}
