import type pg from "pg";
import { type GuardRules, guarded, type Lending } from "../guarded.ts";
import { type Lender, lendTransaction } from "../lend.ts";
import type { Transaction } from "../store.ts";
import { resetBeforeReuse } from "./pool.ts";
import { postgresSpelling } from "./spelling.ts";
import { executeOn, waitsFor } from "./statement.ts";
import { type Beginning, beginning } from "./statement-words.ts";

/** What reads and writes rows; anything else may leave something behind for the rest of its transaction, or longer. */
const READS_AND_WRITES = new Set(["INSERT", "UPDATE", "DELETE", "SELECT", "WITH", "VALUES", "MERGE"]);
/** Functions whose effect outlives the statement, or whose value is the transaction's. */
const LEAVES_SOMETHING =
  /\b(?:set_config|pg_notify|txid_current|pg_current_xact_id|pg_(?:try_)?advisory_lock)/i;
const ENDS_TRANSACTION = new Set(["BEGIN", "START", "COMMIT", "END", "ABORT"]);
const OF_THE_TRANSACTION = new Set(["LOCAL", "CONSTRAINTS", "TRANSACTION"]);
const OF_THE_SESSION = new Set(["RESET", "DISCARD", "DEALLOCATE"]);

const NUL = "\0";
const NUL_IN_STATEMENT =
  "a statement for PostgreSQL cannot hold NUL: take it out of the text, and pass data as values";

/** What the text of a statement tells. */
interface Verdict {
  /** Why no handler may run it. */
  readonly refusal: string | undefined;
  /** Whether nothing but rows can differ after it, as far as its text tells. */
  readonly isPlain: boolean;
}

const VERDICTS_KEPT = 512;
const LONGEST_KEPT = 8_192;
/** Handlers run the same few texts again and again; those with values written into them never come again. */
const verdicts = new Map<string, Verdict>();

function judge(sql: string): Verdict {
  const known = verdicts.get(sql);
  if (known !== undefined) return known;
  const words = beginning(sql);
  const verdict = {
    refusal: sql.includes(NUL) ? NUL_IN_STATEMENT : refusalOf(words),
    isPlain: READS_AND_WRITES.has(words[0] ?? "") && !LEAVES_SOMETHING.test(sql),
  };
  if (sql.length > LONGEST_KEPT) return verdict;
  if (verdicts.size >= VERDICTS_KEPT) verdicts.clear();
  verdicts.set(sql, verdict);
  return verdict;
}

function refusalOf(words: Beginning): string | undefined {
  const [first = "", second = "", third = ""] = words;
  const because = (why: string) => `the handler may not run "${words.join(" ")}": ${why}`;
  const endsIt = ENDS_TRANSACTION.has(first) || (first === "ROLLBACK" && ![second, third].includes("TO"));
  if (endsIt || (first === "PREPARE" && second === "TRANSACTION"))
    return because(
      "Oncehook commits the transaction with the event's record. Throw to roll it back; use a SAVEPOINT for parts.",
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

/** What a handler hands to the driver as a statement. */
interface DriversStatement {
  readonly text?: unknown;
  readonly values?: unknown;
  readonly name?: unknown;
}

const RULES: GuardRules = {
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
    return method === "query" ? asOneStatement(args) : args;
  },
};

function isMember(of: unknown, name: string): boolean {
  return typeof of === "object" && of !== null && typeof Reflect.get(of, name) === "function";
}

/**
 * The extended protocol takes one statement a text, so that no text can hide a COMMIT behind another statement.
 * @returns the arguments with which the driver's `query` uses it
 */
function asOneStatement(args: readonly unknown[]): readonly unknown[] {
  const [given, ...rest] = args;
  if (typeof given !== "string" && (typeof given !== "object" || given === null)) return args;
  const statement: DriversStatement = typeof given === "string" ? { text: given } : given;
  const { text, values, name } = statement;
  if (typeof text === "string") assertHandlerMay(text);
  if (typeof name === "string") assertHandlerMay(name);
  for (const list of [values, rest[0]]) if (Array.isArray(list)) assertValues(list);
  // A prototype may hold what an object of a query builder gives.
  return [{ ...statement, text, values, name, queryMode: "extended" }, ...rest];
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

export function isPlain(sql: string): boolean {
  return judge(sql).isPlain;
}

/** @throws Error for a statement that would end the transaction, outlive it on the connection, or holds NUL */
export function assertHandlerMay(sql: string): void {
  const { refusal } = judge(sql);
  if (refusal !== undefined) throw new Error(refusal);
}

/** What an open transaction lends to a handler, in the ways that it allows. */
export function lend(lending: Lending, ways: Omit<Lender, "dialect" | "spelling">): Transaction {
  const execute: Lender["execute"] = (statement) => {
    assertValues(statement.parameters);
    return ways.execute(statement);
  };
  return lendTransaction(lending, { dialect: "postgres", spelling: postgresSpelling, ...ways, execute });
}

/** A whole transaction for one handler. */
export function lent(client: pg.ClientBase, lending: Lending): Transaction {
  let isKept = true;
  const mayHaveChanged = () => {
    isKept = false;
    resetBeforeReuse(client);
  };
  return lend(lending, {
    assertAllowed: assertHandlerMay,
    execute(statement) {
      // A temporary table may hide another from here on, for which a statement was parsed.
      if (!isPlain(statement.sql)) mayHaveChanged();
      return executeOn(client, statement, { isKept });
    },
    driver() {
      mayHaveChanged();
      return guarded(client, lending, { ...RULES, begun: (pending) => waitsFor(client, pending) });
    },
  });
}
