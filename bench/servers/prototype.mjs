/**
 * As little as can be called group commit: node:http, the four writes of a callback in a savepoint, and one transaction for
 * all that came in one turn of the event loop. One kind of event, no handlers that wait, and a fault ends the process.
 */
import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import {
  answerFor,
  callbackValues,
  isSigned,
  notificationValues,
  orderValues,
  paymentOf,
  recordValues,
} from "./payment.ts";
import { schemaFor } from "./schema.ts";
import {
  COLUMNS,
  insertCallback,
  insertNotification,
  insertRecord,
  parameters,
  upsertOrder,
} from "./statements.ts";

const database = new DatabaseSync(process.env.DATABASE_FILE);
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
for (const statement of schemaFor("sqlite")) database.exec(statement);

const record = database.prepare(insertRecord(parameters(COLUMNS.record, "?")));
const order = database.prepare(upsertOrder(parameters(COLUMNS.order, "?")));
const notification = database.prepare(insertNotification(parameters(COLUMNS.notification, "?")));
const callback = database.prepare(insertCallback(parameters(COLUMNS.callback, "?")));
const begin = database.prepare("BEGIN IMMEDIATE");
const savepoint = database.prepare("SAVEPOINT callback");
const release = database.prepare("RELEASE callback");
const commit = database.prepare("COMMIT");

let waiting = [];

createServer((request, response) => {
  const begun = performance.now();
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    if (!isSigned(body, request.headers["x-signature"])) return send(response, 401, '{"status":"error"}');
    const payment = paymentOf(body);
    if (payment === undefined) return send(response, 400, '{"status":"error"}');
    if (waiting.push({ payment, body, headers: request.headers, response, begun }) === 1)
      setImmediate(storeAll);
  });
}).listen(Number(process.env.PORT), "127.0.0.1");

function storeAll() {
  const group = waiting;
  waiting = [];
  begin.run();
  const answers = group.map(store);
  commit.run();
  for (const [index, { response }] of group.entries()) send(response, 200, answers[index]);
}

function store({ payment, body, headers, begun }) {
  savepoint.run();
  const isNew = record.run(...recordValues(payment, body)).changes === 1;
  if (isNew) {
    order.run(...orderValues(payment));
    notification.run(...notificationValues(payment));
  }
  const { outcome, answer } = answerFor(payment, isNew);
  callback.run(...callbackValues(payment, { headers, outcome, answer, begun }));
  release.run();
  return answer;
}

function send(response, status, text) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(text);
}
