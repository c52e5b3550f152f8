import type pg from "pg";
import { assertKeepsTransaction, type GuardRules, guarded, type Lending } from "../guarded.ts";
import { type Lender, lendTransaction } from "../lend.ts";
import type { Transaction } from "../store.ts";
import { postgresSpelling } from "./spelling.ts";
import { executeOn, waitsFor } from "./statement.ts";

/** `SET x`, but not `SET LOCAL x`, SET CONSTRAINTS or SET TRANSACTION. */
const SETS_SESSION = /^\s*(?:set(?!\s+(?:local|constraints|transaction)\b)|reset|discard)\b/i;
/** What reads and writes rows; anything else may leave something behind for the rest of its transaction. */
const PLAIN = /^\s*(?:insert|update|delete|select|with|values|merge)\b/i;
/** Functions whose effect is the whole transaction's, or whose value is. */
const OF_THE_TRANSACTION = /\b(?:set_config|pg_notify|txid_current|pg_current_xact_id)/i;

const RULES: GuardRules = {
  check(method, args) {
    if (typeof args.at(-1) === "function") {
      throw new TypeError(`${String(method)}() with a callback cannot be waited for: await what it returns`);
    }
    if (method === "release" || method === "end") {
      throw new TypeError(`the handler may not call ${method}() of the connection; Oncehook gives it back`);
    }
    const [statement] = args;
    const text =
      typeof statement === "string" ? statement : (statement as { text?: unknown } | undefined)?.text;
    assertKeepsSession(text);
  },
};

/** A setting would stay on the connection for the events after this one. */
function assertKeepsSession(text: unknown): void {
  if (typeof text !== "string" || !SETS_SESSION.test(text)) return;
  throw new Error(
    `the handler may not run "${text.trim().slice(0, 40)}": use SET LOCAL, which ends with the transaction`,
  );
}

/** Whether nothing but rows can differ after the statement, as far as its text tells. */
export function isPlain(sql: string): boolean {
  return PLAIN.test(sql) && !OF_THE_TRANSACTION.test(sql);
}

export function assertHandlerMay(sql: string): void {
  assertKeepsTransaction(sql);
  assertKeepsSession(sql);
}

/** What an open transaction lends to a handler, in the ways that it allows. */
export function lend(lending: Lending, ways: Omit<Lender, "dialect" | "spelling">): Transaction {
  return lendTransaction(lending, { dialect: "postgres", spelling: postgresSpelling, ...ways });
}

/** A whole transaction for one handler. */
export function lent(client: pg.ClientBase, lending: Lending): Transaction {
  let isKept = true;
  return lend(lending, {
    assertAllowed: assertHandlerMay,
    execute(statement) {
      // A temporary table may hide another from here on, for which a statement was parsed.
      isKept &&= isPlain(statement.sql);
      return executeOn(client, statement, { isKept });
    },
    driver() {
      isKept = false;
      return guarded(client, lending, { ...RULES, begun: (pending) => waitsFor(client, pending) });
    },
  });
}
