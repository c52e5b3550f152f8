/** Express 5 and pg as one would write it by hand: a pool, named statements, one transaction a callback. */
import pg from "pg";
import { answerFor, callbackValues, notificationValues, orderValues, recordValues } from "./payment.ts";
import { schemaFor } from "./schema.ts";
import { serveExpress } from "./serve-express.mjs";
import { COLUMNS, insertCallback, insertNotification, insertRecord, parameters, upsertOrder } from "./statements.ts";

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.BENCH_POOL_SIZE),
});
for (const statement of schemaFor("postgres")) await pool.query(statement);

const RECORD = { name: "record", text: insertRecord(parameters(COLUMNS.record, "$")) };
const ORDER = { name: "order", text: upsertOrder(parameters(COLUMNS.order, "$")) };
const NOTIFICATION = {
  name: "notification",
  text: insertNotification(parameters(COLUMNS.notification, "$")),
};
const CALLBACK = { name: "callback", text: insertCallback(parameters(COLUMNS.callback, "$")) };

async function write(client, payment, { body, headers }, startedAt) {
  const { rowCount } = await client.query({ ...RECORD, values: recordValues(payment, body) });
  const isNew = rowCount === 1;
  if (isNew) {
    await client.query({ ...ORDER, values: orderValues(payment) });
    await client.query({ ...NOTIFICATION, values: notificationValues(payment) });
  }
  const { outcome, answer } = answerFor(payment, isNew);
  await client.query({
    ...CALLBACK,
    values: callbackValues(payment, { headers, outcome, answer, startedAt }),
  });
  return answer;
}

serveExpress(async (payment, request, startedAt) => {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const answer = await write(client, payment, request, startedAt);
    await client.query("COMMIT");
    return answer;
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
});
