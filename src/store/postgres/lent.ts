import type pg from "pg";
import { type GuardRules, guarded, type Lending } from "../guarded.ts";
import { type Lender, lendTransaction } from "../lend.ts";
import type { Transaction } from "../store.ts";
import { resetBeforeReuse } from "./pool.ts";
import { postgresSpelling } from "./spelling.ts";
import { executeOn, waitsFor } from "./statement.ts";
import { type Beginning, beginnings } from "./statement-words.ts";

/** What reads and writes rows; anything else may leave something behind for the rest of its transaction, or longer. */
const READS_AND_WRITES = new Set(["INSERT", "UPDATE", "DELETE", "SELECT", "WITH", "VALUES", "MERGE"]);
/** Functions whose effect outlives the statement, or whose value is the transaction's. */
const LEAVES_SOMETHING =
  /\b(?:set_config|pg_notify|txid_current|pg_current_xact_id|pg_(?:try_)?advisory_lock)/i;
const ENDS_TRANSACTION = new Set(["BEGIN", "START", "COMMIT", "END", "ABORT"]);
const OF_THE_TRANSACTION = new Set(["LOCAL", "CONSTRAINTS", "TRANSACTION"]);
const OF_THE_SESSION = new Set(["RESET", "DISCARD", "DEALLOCATE"]);

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
  const statements = beginnings(sql);
  const [first = []] = statements;
  const verdict = {
    refusal: statements.map((words) => refusalOf(words)).find((refusal) => refusal !== undefined),
    isPlain: statements.length <= 1 && READS_AND_WRITES.has(first[0] ?? "") && !LEAVES_SOMETHING.test(sql),
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
    const [statement] = args;
    const text =
      typeof statement === "string" ? statement : (statement as { text?: unknown } | undefined)?.text;
    if (typeof text === "string") assertHandlerMay(text);
  },
};

function isMember(of: unknown, name: string): boolean {
  return typeof of === "object" && of !== null && typeof Reflect.get(of, name) === "function";
}

export function isPlain(sql: string): boolean {
  return judge(sql).isPlain;
}

/** @throws Error for a text in which a statement would end the transaction, or outlive it on the connection */
export function assertHandlerMay(sql: string): void {
  const { refusal } = judge(sql);
  if (refusal !== undefined) throw new Error(refusal);
}

/** What an open transaction lends to a handler, in the ways that it allows. */
export function lend(lending: Lending, ways: Omit<Lender, "dialect" | "spelling">): Transaction {
  return lendTransaction(lending, { dialect: "postgres", spelling: postgresSpelling, ...ways });
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
