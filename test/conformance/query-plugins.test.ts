import { CamelCasePlugin, DeduplicateJoinsPlugin } from "kysely";
import { describe, expect, it } from "vitest";
import type { OnceScope } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, EFFECTS, newRecord } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";

describe.each(DIALECTS)("the query builder of a handler on %s", (dialect) => {
  /** What the handler's run comes to. */
  const result = (run: (query: OnceScope["tx"]["query"]) => Promise<unknown>) =>
    withStore(
      dialect,
      async (store) => {
        const handle = async ({ tx }: OnceScope) => {
          await tx.query.insertInto("effects").values({ event_id: "e1" }).execute();
          return { result: { found: (await run(tx.query)) as string } };
        };
        const ending = await runOnce(store, newRecord("e1"), handle, committing());
        return "result" in ending ? Reflect.get(ending.result as object, "found") : undefined;
      },
      { migrations: [EFFECTS] },
    );

  it("tx.query takes plugins, in statements and in what they return, and keeps those that it has", async () => {
    const found = await result(async (query) => {
      const camel = query.withPlugin(new CamelCasePlugin()).withPlugin(new DeduplicateJoinsPlugin());
      const [one] = await camel.selectFrom("effects").select("eventId").execute();
      const [other] = await camel.withoutPlugins().selectFrom("effects").select("event_id").execute();
      return [one, other];
    });
    expect(found).toEqual([{ eventId: "e1" }, { event_id: "e1" }]);
  });

  it("tx.query streams no rows, which could outlive the transaction", async () => {
    const streaming = result(async (query) => {
      for await (const row of query.selectFrom("effects").selectAll().stream()) return row;
    });
    await expect(streaming).rejects.toThrow("tx.query cannot stream rows");
  });

  it("tx.query runs no statement whose signal was aborted before it", async () => {
    const aborted = result(async (query) =>
      query.deleteFrom("effects").execute({ signal: AbortSignal.abort(new Error("given up")) }),
    );
    await expect(aborted).rejects.toThrow("given up");
  });
});
