import { answerFor, callbackValues, notificationValues, orderValues, recordValues } from "./payment.ts";
import { schemaFor } from "./schema.ts";
import { COLUMNS, insertCallback, insertNotification, insertRecord, parameters, upsertOrder } from "./statements.ts";

/**
 * Makes the tables in an open database, of either driver, and returns the writes of one callback. Its transaction is the
 * caller's.
 */
export function sqliteWrites(database) {
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  for (const statement of schemaFor("sqlite")) database.exec(statement);
  const record = database.prepare(insertRecord(parameters(COLUMNS.record, "?")));
  const order = database.prepare(upsertOrder(parameters(COLUMNS.order, "?")));
  const notification = database.prepare(insertNotification(parameters(COLUMNS.notification, "?")));
  const callback = database.prepare(insertCallback(parameters(COLUMNS.callback, "?")));

  return (payment, { body, headers }, startedAt) => {
    const isNew = record.run(...recordValues(payment, body)).changes === 1;
    if (isNew) {
      order.run(...orderValues(payment));
      notification.run(...notificationValues(payment));
    }
    const { outcome, answer } = answerFor(payment, isNew);
    callback.run(...callbackValues(payment, { headers, outcome, answer, startedAt }));
    return answer;
  };
}
