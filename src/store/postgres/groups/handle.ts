import type pg from "pg";
import { remembered } from "../../../domain/index.ts";
import { postgresDialect } from "../../bind-query.ts";
import { type GuardRules, guardConnection, type HandlerTransaction } from "../../handler-transaction.ts";
import type { QualifiedNames } from "../../qualified-names.ts";
import type { Transaction } from "../../transaction.ts";
import { createTransactionHandle, type TransactionDriver } from "../../transaction-handle.ts";
import { beginning, type LeadingWords } from "../wire/leading-words.ts";
import { qualifiedNamesOf } from "../wire/names-of-connection.ts";
import { resetBeforeReuse } from "../wire/pool.ts";
import { isPooled } from "../wire/pooled-connections.ts";
import { nameOf } from "../wire/prepared-names.ts";
import { executeOn, waitFor } from "../wire/statement.ts";

/** Statements that read and write rows. Any other may leave something behind for the rest of its transaction, or longer. */
const READS_AND_WRITES = new Set(["INSERT", "UPDATE", "DELETE", "SELECT", "WITH", "VALUES", "MERGE"]);
/** Functions whose effect outlives the statement, or whose value is the transaction's or the session's. */
const LEAVES_SOMETHING =
  /\b(?:set_config|pg_notify|txid_current|pg_current_xact_id|currval|lastval|pg_(?:try_)?advisory_lock)/i;
const ENDS_TRANSACTION = new Set(["BEGIN", "START", "COMMIT", "END", "ABORT"]);
const OF_THE_TRANSACTION = new Set(["LOCAL", "CONSTRAINTS", "TRANSACTION"]);
const OF_THE_SESSION = new Set(["RESET", "DISCARD", "DEALLOCATE"]);

const NUL = "\0";
const NUL_IN_STATEMENT = "a statement for PostgreSQL cannot hold NUL: take it out of the text, and pass data as values";

const MAX_CLASSIFIED = 512;
const MAX_CLASSIFIED_LENGTH = 8_192;
/** Handlers run the same few texts again and again; those with values written into them never come again. */
const classify = remembered(
  (sql) => {
    const words = beginning(sql);
    return {
      /** Why no handler may run it. */
      refusal: sql.includes(NUL) ? NUL_IN_STATEMENT : refusalOf(words),
      /** Whether nothing but rows can differ after it, as far as its text tells. */
      isPlain: READS_AND_WRITES.has(words[0] ?? "") && !LEAVES_SOMETHING.test(sql) && !makesTable(words, sql),
      setsSavepoint: words[0] === "SAVEPOINT",
      /** Whether the session keeps something of it even where the transaction is rolled back. */
      outlivesRollback: words[0] === "PREPARE" || /\bpg_(?:try_)?advisory_lock/i.test(sql),
    };
  },
  MAX_CLASSIFIED,
  MAX_CLASSIFIED_LENGTH,
);

function makesTable([first = ""]: LeadingWords, sql: string): boolean {
  return (
    ["SELECT", "WITH", "VALUES"].includes(first) &&
    /\binto\s+(?:(?:local|global)\s+)?(?:temp|temporary|unlogged|table)\b/i.test(sql)
  );
}

function refusalOf(words: LeadingWords): string | undefined {
  const [first = "", second = "", third = ""] = words;
  const because = (why: string) => `the handler may not run "${words.join(" ")}": ${why}`;
  const endsIt = ENDS_TRANSACTION.has(first) || (first === "ROLLBACK" && ![second, third].includes("TO"));
  if (endsIt || (first === "PREPARE" && second === "TRANSACTION"))
    return because(
      "Oncehook commits the transaction with the event's record. Throw to roll it back; use a SAVEPOINT for parts. " +
        "A library's own `transaction()` is not needed: what the handler writes is in one.",
    );
  // A setting would stay on the connection for the events after this one.
  const setsSession = first === "SET" && !OF_THE_TRANSACTION.has(second);
  return setsSession || OF_THE_SESSION.has(first)
    ? because("use SET LOCAL, which ends with the transaction")
    : undefined;
}

/** Others give the connection away, listen on it, or change it for later events. */
const ALLOWED = [
  "query",
  "escapeIdentifier",
  "escapeLiteral",
  "getTypeParser",
  "getTransactionStatus",
  "processID",
  "database",
  "user",
];

const rulesFor = (transaction: HandlerTransaction, client: pg.ClientBase): GuardRules => ({
  name: "connection",
  allowed: ALLOWED,
  check(method, args) {
    if (args.some((one) => typeof one === "function" || isMember(one, "callback"))) {
      throw new TypeError(`${String(method)}() with a callback cannot be waited for: await what it returns`);
    }
    if (isMember(args[0], "submit")) {
      throw new TypeError(
        "query() takes a text, or an object with `text` and `values`; one with submit() (a cursor, a COPY stream) " +
          "would go on past what Oncehook waits for",
      );
    }
    return method === "query" ? asOneStatement(args, transaction, client) : args;
  },
  onStarted: (pending) => waitFor(client, pending),
});

function isMember(of: unknown, name: string): boolean {
  return typeof of === "object" && of !== null && typeof Reflect.get(of, name) === "function";
}

/** Uses the extended protocol, which takes one statement a text: none can hide a COMMIT behind another. */
function asOneStatement(args: readonly unknown[], transaction: HandlerTransaction, client: pg.ClientBase) {
  const [given, ...rest] = args;
  if (typeof given !== "string" && (typeof given !== "object" || given === null)) return args;
  const statement = typeof given === "string" ? { text: given } : given;
  const { text, values, name }: Partial<Record<"text" | "values" | "name", unknown>> = statement;
  if (typeof text === "string") assertAllowedAlone(text, transaction, client);
  for (const list of [values, rest[0]]) if (Array.isArray(list)) assertValues(list);
  // A prototype may hold what an object of a query builder gives.
  const ownName = name && typeof text === "string" && !isPooled(client) ? nameOf(text) : undefined;
  return [{ ...statement, text, values, name: ownName, queryMode: "extended" }, ...rest];
}

/** @throws Error for a value that no type of PostgreSQL can hold; a JSON text holds NUL escaped */
function assertValues(values: readonly unknown[]): void {
  const at = values.findIndex(holdsNul);
  if (at !== -1) {
    throw new Error(
      `value ${at + 1} holds NUL, which no text of PostgreSQL can: refuse it in the schema of \`data\`, or store JSON`,
    );
  }
}

function holdsNul(value: unknown): boolean {
  return typeof value === "string" ? value.includes(NUL) : Array.isArray(value) && value.some(holdsNul);
}

/** @throws Error for a statement that would end the transaction, outlive it on the connection, or holds NUL */
function assertAllowedInHandler(sql: string): void {
  const { refusal } = classify(sql);
  if (refusal !== undefined) throw new Error(refusal);
}

/** The same for an event in its own transaction, which may have savepoints. */
function assertAllowedAlone(sql: string, transaction: HandlerTransaction, client: pg.ClientBase): void {
  assertAllowedInHandler(sql);
  const { setsSavepoint, outlivesRollback } = classify(sql);
  if (setsSavepoint) transaction.hasSavepoint = true;
  if (outlivesRollback && isPooled(client))
    throw new Error(
      "behind a pooler this would stay in a session of other clients: use pg_advisory_xact_lock, and no PREPARE",
    );
}

export type Execute = TransactionDriver["execute"];

/** The handle of a group's member, which may read and write rows. @param reject throws for any other request */
export function createGroupHandle(
  transaction: HandlerTransaction,
  execute: Execute,
  { text: ownText }: QualifiedNames,
  reject: () => never,
): Transaction {
  return createHandle(transaction, {
    ownText,
    assertAllowed(sql) {
      assertAllowedInHandler(sql);
      if (!classify(sql).isPlain) reject();
    },
    execute,
    connection: reject,
  });
}

function createHandle(transaction: HandlerTransaction, driver: Omit<TransactionDriver, "dialect" | "sqlDialect">) {
  const execute: Execute = (statement) => {
    assertValues(statement.parameters);
    return driver.execute(statement);
  };
  return createTransactionHandle(transaction, { dialect: "postgres", sqlDialect: postgresDialect, ...driver, execute });
}

export function createUngroupedHandle(client: pg.ClientBase, transaction: HandlerTransaction): Transaction {
  let isKept = true;
  const mayHaveChanged = () => {
    isKept = false;
    resetBeforeReuse(client);
  };
  return createHandle(transaction, {
    ownText: qualifiedNamesOf(client).text,
    assertAllowed: (sql) => assertAllowedAlone(sql, transaction, client),
    execute(statement) {
      // A temporary table may hide another from here on, for which a statement was parsed.
      if (!classify(statement.sql).isPlain) mayHaveChanged();
      return executeOn(client, statement, { isCached: isKept });
    },
    connection() {
      mayHaveChanged();
      return guardConnection(client, transaction, rulesFor(transaction, client));
    },
  });
}
