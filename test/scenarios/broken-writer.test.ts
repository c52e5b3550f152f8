import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { event, withReceiver } from "../support/receiver.ts";

/** Iterators that are kept, so that no garbage collection finishes them. */
const unfinished: Iterator<unknown>[] = [];
const INSERT = "INSERT INTO things (name) VALUES (?) RETURNING id";

/** The connection behind the guard, which a handler never has: it stands for a fault that no guard foresees. */
function unguarded(connection: DatabaseSync): DatabaseSync {
  const { prepare } = DatabaseSync.prototype;
  let own: DatabaseSync = connection;
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, ...args) {
    own = this;
    return prepare.apply(this, args);
  };
  try {
    connection.prepare("SELECT 1");
  } finally {
    DatabaseSync.prototype.prepare = prepare;
  }
  return own;
}

const handler = defineHandler({
  type: "thing",
  data: z.object({ name: z.string() }),
  migrations: [
    {
      name: "things",
      async up({ execute }) {
        await execute("CREATE TABLE things (id integer PRIMARY KEY, name text)");
      },
    },
  ],
  async handle({ event: { data }, tx }) {
    const connection = tx.connection as DatabaseSync;
    if (data.name === "stuck") {
      const rows = unguarded(connection).prepare(INSERT).iterate(data.name);
      rows.next();
      unfinished.push(rows);
      return {};
    }
    return { id: Number(connection.prepare(INSERT).iterate(data.name).next().value?.id) };
  },
});

it("a receiver on SQLite whose writer keeps a statement in progress responds with 503 and is not ready, and its process ends", () =>
  withReceiver(
    "sqlite",
    async (receiver) => {
      const thing = (name: string) => receiver.send(event("thing", { name }));
      // What the guard knows of stops no later event.
      for (const name of ["first", "second"]) expect((await thing(name)).status).toBe(200);
      expect((await receiver.admin("/readyz")).status).toBe(200);
      expect((await thing("stuck")).status).toBe(503);
      expect((await thing("third")).status).toBe(503);
      expect((await receiver.admin("/readyz")).status).toBe(503);
      // `serve` ends the process with it, as after a ROLLBACK that failed.
      expect(await receiver.broken).toMatchObject({
        message: expect.stringContaining("takes no transaction or savepoint any more; restart"),
        cause: { message: expect.stringContaining("SQL statements in progress") },
      });
      for (const rows of unfinished.splice(0)) rows.return?.();
      expect(await receiver.count("things", "name IN ('stuck', 'third')")).toBe(0);
      expect(await receiver.count("things")).toBe(2);
    },
    { handlers: [handler] },
  ));
