import type pg from "pg";
import type { Clock, EventKey } from "../../domain/index.ts";
import { assertOpen, counted, type Lending, takeBack } from "../guarded.ts";
import { already } from "../queries/already.ts";
import { CALLBACK_COLUMNS, callbackValues, toRecord } from "../queries/rows.ts";
import type {
  Completion,
  Deadline,
  NewRecord,
  OnceEnding,
  OnceOptions,
  OnceScope,
  StoredRecord,
} from "../store.ts";
import type { Transaction } from "../transaction.ts";
import { EventLocked, faultInRun, isLockTimeout, NoConnection } from "./hindrance.ts";
import { inTransaction } from "./in-transaction.ts";
import { withClient } from "./pool.ts";
import { ask } from "./statement.ts";

/** What an earlier delivery of the event has left. */
const LEFT_BEHIND = `failure AS (DELETE FROM oncehook_failures WHERE event_id = $3 AND source = $4),
    preparation AS (DELETE FROM oncehook_preparations WHERE event_id = $3 AND source = $4)`;
const COMPLETE = "UPDATE oncehook_records SET status = 'completed', result = $1, processed_at = $2";
const OF_EVENT = "WHERE event_id = $3 AND source = $4";

/** Named statements are parsed and planned once for each connection. */
const STATEMENTS = {
  // A conflict with a transaction that is still open waits for its end: afterwards the row is there, or ours.
  insertRecord: `INSERT INTO oncehook_records (source, event_id, event_type, version, status, body_sha256, created_at)
    VALUES ($1, $2, $3, $4, 'processing', $5, $6) ON CONFLICT (event_id, source) DO NOTHING`,
  completeRecord: `WITH ${LEFT_BEHIND} ${COMPLETE} ${OF_EVENT}`,
  // The same with the log row, in one round trip.
  completeAndLog: `WITH ${LEFT_BEHIND},
    callback AS (INSERT INTO oncehook_callbacks (${CALLBACK_COLUMNS.join(", ")})
      VALUES (${CALLBACK_COLUMNS.map((_, index) => `$${index + 5}`).join(", ")}) RETURNING id)
    ${COMPLETE}, callback_id = (SELECT id FROM callback) ${OF_EVENT}`,
  selectRecord: "SELECT * FROM oncehook_records WHERE event_id = $1 AND source = $2",
  insertNotification: `INSERT INTO oncehook_notifications
    (source, event_id, position, topic, payload, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
} as const;

export const HOT_STATEMENTS: readonly string[] = Object.values(STATEMENTS);

function query(
  client: pg.ClientBase,
  name: keyof typeof STATEMENTS,
  values: unknown[],
): Promise<pg.QueryResult> {
  return ask(client, { name, text: STATEMENTS[name], values });
}

async function findRecord(client: pg.ClientBase, key: EventKey): Promise<StoredRecord | undefined> {
  const { rows } = await query(client, "selectRecord", [key.eventId, key.source]);
  return rows[0] === undefined ? undefined : toRecord(rows[0]);
}

/** A look-up that a lock holds up is given up at the deadline; it ends by itself later and changes nothing. */
export async function findInTime(
  pool: pg.Pool,
  key: EventKey,
  deadline: Deadline,
): Promise<StoredRecord | undefined> {
  const late = Promise.withResolvers<never>();
  const overdue = () => late.reject(new NoConnection("the look-up was not answered until the deadline"));
  const timer = setTimeout(overdue, Math.max(0, deadline - performance.now()));
  const looking = withClient(pool, deadline, (client) => findRecord(client, key));
  looking.catch(() => {});
  try {
    return await Promise.race([looking, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** One try of `Store.once`; the caller repeats it when a passing fault stopped it. */
export function once(
  pool: pg.Pool,
  lockTimeoutMs: number,
  clock: Clock,
  record: NewRecord,
  run: (scope: OnceScope) => Promise<Completion>,
  { deadline, mode }: OnceOptions,
): Promise<OnceEnding> {
  return inTransaction(pool, { deadline, lockTimeoutMs }, body, (end) =>
    end.ending === "completed" ? "commit" : "rollback",
  );

  async function body(tx: Transaction, client: pg.ClientBase, lending: Lending): Promise<OnceEnding> {
    if (!(await insertRecord(client, record, clock.now())))
      return already(await findRecord(client, record), record);
    const running = run(scopeOf(client, clock, record, tx, lending));
    const { result, logRow } = await running.catch((error: unknown) => {
      throw faultInRun(error);
    });
    assertOpen(lending);
    takeBack(lending);
    const { eventId, source } = record;
    const values = [JSON.stringify(result), clock.now().toISOString(), eventId, source];
    if (logRow === undefined || mode === "rehearse") await query(client, "completeRecord", values);
    else await query(client, "completeAndLog", [...values, ...callbackValues(logRow, 1)]);
    if (mode === "rehearse") {
      // What only COMMIT would check is checked now, so that a dry run promises no more than the real one keeps.
      await ask(client, { text: "SET CONSTRAINTS ALL IMMEDIATE" });
      return { ending: "rehearsed", result };
    }
    return { ending: "completed", result };
  }
}

async function insertRecord(client: pg.ClientBase, record: NewRecord, now: Date): Promise<boolean> {
  const { source, eventId, eventType, version, bodySha256 } = record;
  const values = [source, eventId, eventType, version, bodySha256, now.toISOString()];
  try {
    return (await query(client, "insertRecord", values)).rowCount === 1;
  } catch (error) {
    throw isLockTimeout(error)
      ? new EventLocked("another delivery holds the event's record", { cause: error })
      : error;
  }
}

function scopeOf(
  client: pg.ClientBase,
  clock: Clock,
  key: EventKey,
  tx: Transaction,
  lending: Lending,
): OnceScope {
  let position = 0;
  return {
    tx,
    async enqueue({ topic, payload }) {
      position += 1;
      const at = clock.now().toISOString();
      const values = [key.source, key.eventId, position, topic, JSON.stringify(payload), at];
      await counted(lending, () => query(client, "insertNotification", values));
    },
  };
}
