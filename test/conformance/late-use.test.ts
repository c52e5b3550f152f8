import { describe, expect, it } from "vitest";
import type { OnceScope } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";

const LATE = { topic: "order.paid", payload: { late: true } };

// A handler past its time limit goes on running although its transaction is gone; none of it may have an effect.
describe.each(DIALECTS)("a handler that goes on after its transaction on %s", (dialect) => {
  it("a late handler cannot enqueue a notification after its event was completed", () =>
    withStore(dialect, async (store, target) => {
      const kept: OnceScope[] = [];
      await runOnce(
        store,
        newRecord("e1"),
        async (scope) => {
          kept.push(scope);
          return { result: {} };
        },
        committing(),
      );
      await expect(kept[0]!.enqueue(LATE)).rejects.toThrow("the transaction has ended");
      expect(await countOf(target, "oncehook_notifications")).toBe(0);
    }));

  it("a late handler cannot enqueue a notification of an event that failed, into another event's transaction", () =>
    withStore(
      dialect,
      async (store, target) => {
        const kept: OnceScope[] = [];
        const failing = runOnce(
          store,
          newRecord("e1"),
          async (scope) => {
            kept.push(scope);
            throw new Error("too slow");
          },
          committing(),
        );
        await expect(failing).rejects.toThrow("too slow");
        const late: PromiseSettledResult<void>[] = [];
        await runOnce(
          store,
          newRecord("e2"),
          async (scope) => {
            late.push(...(await Promise.allSettled([kept[0]!.enqueue(LATE)])));
            return addEffect(scope, "e2");
          },
          committing(),
        );
        expect(late.map(({ status }) => status)).toEqual(["rejected"]);
        expect(await countOf(target, "oncehook_notifications")).toBe(0);
      },
      { migrations: [EFFECTS], poolSize: 1 },
    ));

  it("a late handler cannot use a method that it took from the connection, nor read from the connection", () =>
    withStore(
      dialect,
      async (store, target) => {
        const kept: { use(statement: string): unknown; read(): unknown }[] = [];
        await runOnce(
          store,
          newRecord("e1"),
          async ({ tx: { connection } }) => {
            const use: unknown = Reflect.get(connection, dialect === "sqlite" ? "exec" : "query");
            const read = () => Reflect.get(connection, dialect === "sqlite" ? "isTransaction" : "database");
            kept.push({ use: use as (statement: string) => unknown, read });
            return { result: {} };
          },
          committing(),
        );
        const late = async () => kept[0]!.use("INSERT INTO effects (event_id) VALUES ('late')");
        await expect(late()).rejects.toThrow("the transaction has ended");
        expect(kept[0]!.read).toThrow("the transaction has ended");
        // On PostgreSQL it has the same connection, behind whatever was sent on it.
        await runOnce(store, newRecord("e2"), (scope) => addEffect(scope, "e2"), committing());
        expect(await countOf(target, "effects")).toBe(1);
      },
      { migrations: [EFFECTS], poolSize: 1 },
    ));
});
