import { NO_TRANSACTION, notATransaction, OnceError, sqlState } from "./once-error.ts";
import type { OnceTransaction, Row } from "./once-transaction.ts";
import { MARK, type Statements, statementsFor } from "./statements.ts";

/** Which event it is, as the receiver names it: an event is the same by `source` and `id`. */
export interface OnceKey {
  /** The source's name, such as `stripe`, then its tenant and the name of a handler where there are such. */
  readonly source: string;
  /** The platform's id of the event: 1 to 255 bytes of UTF-8. */
  readonly id: string;
  /** The event's type, which the admin page shows. */
  readonly type?: string | undefined;
  /** SHA-256 of the body in lowercase hex, by which the receiver reports another body under the same id. */
  readonly bodySha256?: string | undefined;
}

export type OnceOutcome<T> =
  /** `run` has run; its effects commit with the transaction. */
  | { readonly kind: "ran"; readonly result: T }
  /**
   * The event was handled before, and `run` did not run. `result` is what that returned, as JSON has it. It is
   * undefined where nothing was returned, and where the isolation level hides the record.
   */
  | { readonly kind: "duplicate"; readonly result: T | undefined };

/** An object that JSON can hold, and no list: the receiver responds to duplicates with an object. */
// biome-ignore lint/suspicious/noConfusingVoidType: an async function without a return is a Promise<void>
type OnceResult = (object & { readonly [Symbol.iterator]?: never }) | undefined | void;

/**
 * Runs `run` unless the event was handled before, inside a transaction that the application owns. The effects of `run`
 * and the event's record commit together, or neither does. The records are those of the receiver. A duplicate waits for
 * the transaction that is handling the event. All happens in a savepoint: after an error the transaction goes on.
 * @param tx the transaction, as `fromPg` or the function of another library returns it
 * @param run gets the library's transaction, inside the savepoint, and returns an object or nothing
 * @throws OnceError for a pool, or a transaction that has ended (`25P01`), and for a missing table (`42P01`)
 * @throws TypeError for an invalid key or result
 * @throws what `run` or the database throws, after a rollback to the savepoint
 */
export async function once<Tx, T extends OnceResult>(
  tx: OnceTransaction<Tx>,
  key: OnceKey,
  run: (tx: Tx) => Promise<T>,
): Promise<OnceOutcome<T>> {
  assertKey(key);
  const statements = statementsFor(tx.schema);
  let claimError: unknown;
  try {
    return await tx.savepoint(async (inner) => {
      const mark = await markOf(inner);
      const [row] = await inner.query(statements.claim, claimValues(key, mark)).catch((error) => {
        claimError = error;
        throw error;
      });
      if (row === undefined) return duplicate<T>(inner, key, { statements, mark });
      const result = await run(inner.handle);
      const values = [resultText(result), String(row.place), key.id, key.source, mark];
      const completed = await inner.query(statements.complete, values);
      if (completed.length !== 1) throw notATransaction("one that had ended before `run` did");
      return { kind: "ran", result };
    });
  } catch (error) {
    // Above READ COMMITTED a record that came after the snapshot refuses the claim. So do other conflicts.
    if (sqlState(claimError) === SERIALIZATION_FAILURE && (await isRecorded(tx, key)))
      return { kind: "duplicate", result: undefined };
    throw explained(error, tx.schema);
  }
}

const SERIALIZATION_FAILURE = "40001";
const UNIQUE_VIOLATION = "23505";
const UNDEFINED_TABLE = "42P01";

async function markOf<Tx>(tx: OnceTransaction<Tx>): Promise<string> {
  const [row] = await tx.query(MARK, [crypto.randomUUID()]);
  return String(row?.mark);
}

function claimValues({ source, id, type = "", bodySha256 = "" }: OnceKey, mark: string): string[] {
  return [source, id, type, bodySha256, mark];
}

async function duplicate<T>(
  tx: OnceTransaction<unknown>,
  { source, id }: OnceKey,
  { statements, mark }: { statements: Statements; mark: string },
): Promise<OnceOutcome<T>> {
  const [row] = await tx.query(statements.look, [id, source, mark]);
  if (row?.marked !== "true") throw notATransaction("a pool, or one that has ended");
  if (row.status === "completed") return { kind: "duplicate", result: storedResult<T>(row) };
  const reason =
    row.status === null
      ? "was deleted meanwhile: try again"
      : "is not completed: this is its own `run`, or one that ended the transaction";
  throw new Error(`the record of event "${id}" of ${source} ${reason}`);
}

/** An INSERT that ignores no conflict sees rows that the snapshot hides. Nothing of it stays. */
async function isRecorded(tx: OnceTransaction<unknown>, key: OnceKey): Promise<boolean> {
  let state: string | undefined;
  await tx
    .savepoint(async (inner) => {
      const mark = await markOf(inner);
      await inner.query(statementsFor(tx.schema).claimAlone, claimValues(key, mark)).catch((error) => {
        state = sqlState(error);
      });
      throw new Error("the savepoint is rolled back");
    })
    .catch(() => {});
  return state === UNIQUE_VIOLATION;
}

/** Nothing that was returned is stored as an empty object, since the receiver answers duplicates with an object. */
function resultText(result: unknown): string {
  const text = JSON.stringify(result ?? {});
  if (text?.startsWith("{")) return text;
  throw new TypeError(
    `once: \`run\` returned ${text ?? typeof result}; return an object that JSON can hold, or nothing`,
  );
}

function storedResult<T>({ result }: Row): T | undefined {
  return typeof result !== "string" || result === "{}" ? undefined : (JSON.parse(result) as T);
}

const MAX_BYTES = 255;

const MAX_SHOWN = 80;

function assertKey(key: OnceKey): void {
  const { source, id, type, bodySha256 } = key ?? {};
  for (const [name, text] of Object.entries({ source, id, ...(type !== undefined && { type }) })) {
    const isText = typeof text === "string" && text !== "" && !/[\p{Cc}\p{Cs}]/u.test(text);
    if (!isText || new TextEncoder().encode(text).length > MAX_BYTES)
      throw new TypeError(
        `once: the ${name} ${shown(text)} is not a text of 1 to ${MAX_BYTES} bytes without control characters`,
      );
  }
  if (bodySha256 !== undefined && !/^[0-9a-f]{64}$/.test(bodySha256))
    throw new TypeError(`once: bodySha256 is ${shown(bodySha256)}, expected 64 digits of lowercase hex`);
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, MAX_SHOWN)) : String(value);
}

function explained(error: unknown, schema: string | undefined): unknown {
  if (error instanceof OnceError) return error;
  const state = sqlState(error);
  if (state === NO_TRANSACTION) return notATransaction("a pool, or one that has ended", error);
  // A table of the application may be missing too.
  const isOurs = state === UNDEFINED_TABLE && /oncehook_\w+/.test(messageOf(error));
  if (!isOurs) return error;
  const place = schema === undefined ? "the connection's search_path has no" : `the schema "${schema}" has no`;
  const remedy = "Make it with `npx oncehook migrate`, or with the receiver's first start";
  const message = `${place} table oncehook_records. ${remedy}, or name its schema: fromPg(client, { schema })`;
  return new OnceError(UNDEFINED_TABLE, message, { cause: error });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.message} ${messageOf(error.cause)}` : "";
}
