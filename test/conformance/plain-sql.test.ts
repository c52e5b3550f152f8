import { describe, expect, it } from "vitest";
import type { ExecuteResult, Transaction } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, countOf, EFFECTS, newRecord } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";

const migrations = [EFFECTS];
const mark = (tx: Transaction) => (tx.dialect === "sqlite" ? "?" : "$1");

describe.each(DIALECTS)("plain SQL in a handler on %s", (dialect) => {
  it("plain SQL binds its values, returns the number of changes and the rows", () =>
    withStore(
      dialect,
      async (store, target) => {
        const seen: ExecuteResult[] = [];
        await runOnce(
          store,
          newRecord("e1"),
          async ({ tx }) => {
            seen.push(await tx.execute(`INSERT INTO effects (event_id) VALUES (${mark(tx)})`, ["e'1"]));
            seen.push(await tx.execute("SELECT event_id FROM effects"));
            return { result: {} };
          },
          committing(),
        );
        expect(seen[0]).toEqual({ rows: [], changes: 1 });
        expect(seen[1]?.rows).toMatchObject([{ event_id: "e'1" }]);
        expect(await countOf(target, "effects")).toBe(1);
      },
      { migrations },
    ));

  it("execute works after it was taken out of tx", () =>
    withStore(
      dialect,
      async (store, target) => {
        await runOnce(
          store,
          newRecord("e1"),
          async ({ tx: { execute } }) => {
            await execute("INSERT INTO effects (event_id) VALUES ('e1')");
            return { result: {} };
          },
          committing(),
        );
        expect(await countOf(target, "effects")).toBe(1);
      },
      { migrations },
    ));

  it.each(["COMMIT", "ROLLBACK", "BEGIN", "SELECT 1; COMMIT"])("plain SQL cannot run %s", (statement) =>
    withStore(
      dialect,
      async (store, target) => {
        const run = runOnce(
          store,
          newRecord("e1"),
          async ({ tx }) => {
            await tx.execute("INSERT INTO effects (event_id) VALUES ('e1')");
            await tx.execute(statement);
            return { result: {} };
          },
          committing(),
        );
        await expect(run).rejects.toThrow();
        expect(await countOf(target, "effects")).toBe(0);
      },
      { migrations },
    ),
  );

  it("plain SQL takes its values in an array only", () =>
    withStore(
      dialect,
      async (store) => {
        const insert = (tx: Transaction) => tx.execute(`INSERT INTO effects VALUES (${mark(tx)})`, "e1" as never);
        const run = runOnce(
          store,
          newRecord("e1"),
          async ({ tx }) => ({ result: { ...(await insert(tx)) } as never }),
          committing(),
        );
        await expect(run).rejects.toThrow("values as an array");
      },
      { migrations },
    ));

  it("plain SQL is refused after the end of its transaction", () =>
    withStore(
      dialect,
      async (store, target) => {
        let kept: Transaction | undefined;
        await runOnce(
          store,
          newRecord("e1"),
          async ({ tx }) => {
            kept = tx;
            return { result: {} };
          },
          committing(),
        );
        await expect(kept?.execute("INSERT INTO effects (event_id) VALUES ('late')")).rejects.toThrow(
          "the transaction has ended",
        );
        expect(() => kept?.connection && Reflect.get(kept.connection as object, "exec")).toThrow();
        expect(await countOf(target, "effects")).toBe(0);
      },
      { migrations },
    ));
});
