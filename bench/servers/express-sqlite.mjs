/** Express 5 and better-sqlite3 as one would write it by hand: one transaction a callback, WAL, synchronous=FULL. */
import Database from "better-sqlite3";
import { answerFor, callbackValues, notificationValues, orderValues, recordValues } from "./payment.ts";
import { schemaFor } from "./schema.ts";
import { serveExpress } from "./serve-express.mjs";
import {
  COLUMNS,
  insertCallback,
  insertNotification,
  insertRecord,
  parameters,
  upsertOrder,
} from "./statements.ts";

const database = new Database(process.env.DATABASE_FILE);
database.pragma("journal_mode = WAL");
database.pragma("synchronous = FULL");
for (const statement of schemaFor("sqlite")) database.exec(statement);

const record = database.prepare(insertRecord(parameters(COLUMNS.record, "?")));
const order = database.prepare(upsertOrder(parameters(COLUMNS.order, "?")));
const notification = database.prepare(insertNotification(parameters(COLUMNS.notification, "?")));
const callback = database.prepare(insertCallback(parameters(COLUMNS.callback, "?")));

const store = database.transaction((payment, { body, headers }, begun) => {
  const isNew = record.run(recordValues(payment, body)).changes === 1;
  if (isNew) {
    order.run(orderValues(payment));
    notification.run(notificationValues(payment));
  }
  const { outcome, answer } = answerFor(payment, isNew);
  callback.run(callbackValues(payment, { headers, outcome, answer, begun }));
  return answer;
});

serveExpress(store.immediate);
