/**
 * As little as can be called group commit: node:http, the four writes of a callback in a savepoint, and one transaction for
 * all that came in one turn of the event loop. One kind of event, no handlers that wait, and a fault ends the process.
 */
import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { isSigned, paymentOf } from "./payment.ts";
import { sqliteWrites } from "./sqlite-writes.mjs";

const database = new DatabaseSync(process.env.DATABASE_FILE);
const writes = sqliteWrites(database);
const begin = database.prepare("BEGIN IMMEDIATE");
const savepoint = database.prepare("SAVEPOINT callback");
const release = database.prepare("RELEASE callback");
const commit = database.prepare("COMMIT");

let waiting = [];

createServer((request, response) => {
  const startedAt = performance.now();
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    if (!isSigned(body, request.headers["x-signature"])) return send(response, 401, '{"status":"error"}');
    const payment = paymentOf(body);
    if (payment === undefined) return send(response, 400, '{"status":"error"}');
    if (waiting.push({ payment, body, headers: request.headers, response, startedAt }) === 1) setImmediate(storeAll);
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

function store({ payment, startedAt, ...request }) {
  savepoint.run();
  const answer = writes(payment, request, startedAt);
  release.run();
  return answer;
}

function send(response, status, text) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(text);
}
