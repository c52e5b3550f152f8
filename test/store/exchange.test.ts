import { EventEmitter } from "node:events";
import pg from "pg";
import { expect, it } from "vitest";
import { Exchange } from "../../src/store/postgres/exchange.ts";

it("an exchange with PostgreSQL ends in an error when the server is ready again, whatever language it speaks", () => {
  const connection = new EventEmitter();
  const told: unknown[] = [];
  const exchange = new Exchange([{ text: "BEGIN" }]);
  exchange.callback = (error) => told.push(error);
  // As a server with `lc_messages` says ERROR.
  const refusal = Object.assign(new pg.DatabaseError("nein", 4, "error"), { severity: "FEHLER" });
  exchange.handleError(refusal, connection);
  expect(told).toEqual([]);
  connection.emit("readyForQuery");
  connection.emit("end");
  expect(told).toEqual([refusal]);
});
