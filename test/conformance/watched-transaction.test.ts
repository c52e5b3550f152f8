import { describe, expect, it } from "vitest";
import type { OnceScope, TransactionObserver } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { countOf, EFFECTS, newRecord, within } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";

/** What a observer was told, one line for each statement. */
function watching() {
  const told: [string, number | null | "not ended"][] = [];
  const connections = { used: 0 };
  const observer: TransactionObserver = {
    statementStarted(statement) {
      const line: (typeof told)[number] = [statement.replace(/\$\d/g, "?").replaceAll('"', ""), "not ended"];
      told.push(line);
      return (rows) => {
        line[1] = rows;
      };
    },
    connectionUsed: () => {
      connections.used += 1;
    },
    foreignKeysUnchecked() {},
  };
  return { told, connections, observer };
}

describe.each(DIALECTS)("a watched transaction on %s", (dialect) => {
  const rehearse = (run: (scope: OnceScope) => Promise<unknown>) => {
    const { told, connections, observer } = watching();
    return withStore(
      dialect,
      async (store, target) => {
        const options = { deadline: within(10_000), mode: "dry-run", observer } as const;
        const ended = await runOnce(
          store,
          newRecord("e1"),
          async (scope) => {
            await run(scope);
            return { result: {} };
          },
          options,
        ).catch((error: unknown) => error);
        expect(await countOf(target, "effects")).toBe(0);
        return { told, connections, ended };
      },
      { migrations: [EFFECTS] },
    );
  };

  it("a watched transaction reports each statement of the handler in order, with its rows, and none of the store", async () => {
    const { told } = await rehearse(async ({ tx, enqueue }) => {
      const values = ["a", "b", "c"].map((event_id) => ({ event_id }));
      await tx.query.insertInto("effects").values(values).execute();
      await enqueue({ topic: "t", payload: {} });
      await tx.query.updateTable("effects").set({ note: "n" }).where("event_id", "<", "c").execute();
      const mark = dialect === "sqlite" ? "?" : "$1";
      await tx.execute(`SELECT * FROM effects WHERE event_id <> ${mark}`, ["none"]);
      await tx.query.deleteFrom("effects").where("event_id", "=", "a").returningAll().execute();
    });
    expect(told).toEqual([
      ["insert into effects (event_id) values (?), (?), (?)", 3],
      ["update effects set note = ? where event_id < ?", 2],
      ["SELECT * FROM effects WHERE event_id <> ?", 3],
      ["delete from effects where event_id = ? returning *", 1],
    ]);
  });

  it("a watched transaction reports a failed statement, and the use of the driver's connection", async () => {
    const { told, connections, ended } = await rehearse(async ({ tx }) => {
      await tx.query.insertInto("effects").values({ event_id: "a" }).execute();
      void tx.connection;
      await tx.execute("SELECT nothing FROM nowhere");
    });
    expect(ended).toBeInstanceOf(Error);
    expect(told).toEqual([
      ["insert into effects (event_id) values (?)", 1],
      ["SELECT nothing FROM nowhere", null],
    ]);
    expect(connections.used).toBe(1);
  });

  it("a dry run promises nothing that COMMIT would refuse", () =>
    withStore(
      dialect,
      async (store) => {
        const violating = (mode: "commit" | "dry-run") =>
          runOnce(
            store,
            newRecord("e1"),
            async ({ tx }) => {
              await tx.query.insertInto("children").values({ parent_id: 404 }).execute();
              return { result: {} };
            },
            { deadline: within(5_000), mode, observer },
          );
        const told: string[] = [];
        const observer = {
          statementStarted: () => () => {},
          connectionUsed() {},
          foreignKeysUnchecked: () => told.push("unchecked"),
        };
        await expect(violating("commit")).rejects.toThrow("COMMIT was refused");
        expect(told).toEqual([]);
        if (dialect === "postgres") await expect(violating("dry-run")).rejects.toThrow("foreign key");
        // SQLite cannot check them without a commit, and promises nothing of them.
        else await violating("dry-run");
        expect(told).toEqual(dialect === "postgres" ? [] : ["unchecked"]);
      },
      { migrations: [EFFECTS] },
    ));
});
