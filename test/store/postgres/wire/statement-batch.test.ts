import { EventEmitter } from "node:events";
import pg from "pg";
import { expect, it } from "vitest";
import { StatementBatch } from "../../../../src/store/postgres/wire/statement-batch.ts";

it("an exchange with PostgreSQL ends in an error when the server is ready again, whatever language it speaks", () => {
  const { connection, told, exchange } = failing();
  // As a server with `lc_messages` says ERROR.
  const refusal = Object.assign(new pg.DatabaseError("nein", 4, "error"), { severity: "FEHLER" });
  exchange.handleError(refusal, connection);
  expect(told).toEqual([]);
  connection.emit("readyForQuery");
  connection.emit("end");
  expect(told).toEqual([refusal]);
});

function failing() {
  const connection = new EventEmitter();
  const told: unknown[] = [];
  const exchange = new StatementBatch([{ text: "BEGIN" }]);
  exchange.callback = (error) => told.push(error);
  return { connection, told, exchange };
}

it("an exchange with PostgreSQL ends with its connection, also between an error and the end of the exchange", () => {
  const { connection, told, exchange } = failing();
  const refusal = new pg.DatabaseError("terminating connection", 4, "error");
  exchange.handleError(refusal, connection);
  connection.emit("end");
  expect(told).toEqual([refusal]);
});

it("an exchange with PostgreSQL ends at once where its connection fails", () => {
  const { connection, told, exchange } = failing();
  const lost = new Error("ECONNRESET");
  exchange.handleError(lost, connection);
  expect(told).toEqual([lost]);
});
