import { describe, expect, it } from "vitest";
import type { Lease } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, countOf, newRecord } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";
import { withClient } from "../support/query-plans.ts";
import { hotStatements, statementsOf } from "../support/statements.ts";
import { until } from "../support/until.ts";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const key = { source: "platform", eventId: "e1" };
const lease = (owner: string, seconds = 0): Lease => ({
  owner,
  now: new Date(T0.getTime() + seconds * 1000),
  until: new Date(T0.getTime() + (seconds + 30) * 1000),
});

const MANY = Array.from({ length: 40 }, (_, index) => ({ ...key, eventId: `e${index}` }));

describe.each(DIALECTS)("preparations on %s", (dialect) => {
  it("one of many deliveries claims the step", () =>
    withStore(dialect, async ({ preparations }) => {
      const owners = Array.from({ length: 20 }, (_, index) => `owner-${index}`);
      const claims = await Promise.all(owners.map((owner) => preparations.claim(key, lease(owner))));
      expect(claims.filter(({ state }) => state === "claimed")).toHaveLength(1);
      expect(claims.filter(({ state }) => state === "leased")).toHaveLength(19);
    }));

  it("each of many events that come together is claimed, and has its own result", () =>
    withStore(dialect, async ({ preparations }) => {
      const claims = await Promise.all(MANY.map((one) => preparations.claim(one, lease("a"))));
      expect(claims).toEqual(MANY.map(() => ({ state: "claimed" })));
      const saved = MANY.map((one) => preparations.save(one, "a", Buffer.from(one.eventId)));
      expect(await Promise.all(saved)).toEqual(MANY.map(() => true));
      for (const one of MANY) expect(Buffer.from((await preparations.get(one))!).toString()).toBe(one.eventId);
    }));

  it("a store keeps only the owner's result when two results for one event come together", () =>
    withStore(dialect, async ({ preparations }) => {
      await preparations.claim(key, lease("a"));
      const saved = ["b", "a", "b"].map((owner) => preparations.save(key, owner, Buffer.from(owner)));
      expect(await Promise.all(saved)).toEqual([false, true, false]);
      expect(Buffer.from((await preparations.get(key))!).toString()).toBe("a");
    }));

  it("a later delivery gets the stored result", () =>
    withStore(dialect, async ({ preparations }) => {
      await preparations.claim(key, lease("a"));
      expect(await preparations.save(key, "a", Buffer.from([1, 0, 2]))).toBe(true);
      const claim = await preparations.claim(key, lease("b", 999));
      expect(claim.state).toBe("prepared");
      expect(Buffer.from((await preparations.get(key))!)).toEqual(Buffer.from([1, 0, 2]));
    }));

  it("another delivery takes over after the lease, and the late owner's result is refused", () =>
    withStore(dialect, async ({ preparations }) => {
      await preparations.claim(key, lease("dead"));
      expect((await preparations.claim(key, lease("b", 29))).state).toBe("leased");
      expect((await preparations.claim(key, lease("b", 30))).state).toBe("claimed");
      expect(await preparations.save(key, "dead", Buffer.from("late"))).toBe(false);
      expect(await preparations.get(key)).toBeUndefined();
    }));

  it("an unfinished claim is released at once, by its owner only", () =>
    withStore(dialect, async ({ preparations }) => {
      await preparations.claim(key, lease("a"));
      await preparations.release(key, "b");
      expect((await preparations.claim(key, lease("b"))).state).toBe("leased");
      await preparations.release(key, "a");
      expect((await preparations.claim(key, lease("b"))).state).toBe("claimed");
    }));

  it("a stored result is never released", () =>
    withStore(dialect, async ({ preparations }) => {
      await preparations.claim(key, lease("a"));
      await preparations.save(key, "a", Buffer.from("tokens"));
      await preparations.release(key, "a");
      expect((await preparations.claim(key, lease("b"))).state).toBe("prepared");
    }));

  it("a claim reports that the event has its record, and leaves no claim behind", () =>
    withStore(dialect, async (store, target) => {
      await runOnce(store, newRecord("e1"), async () => ({ result: {} }), committing());
      expect((await store.preparations.claim(key, lease("a"))).state).toBe("completed");
      expect(await countOf(target, "oncehook_preparations")).toBe(0);
    }));

  it("the commit that completes the event deletes the result, and a failed commit keeps it", () =>
    withStore(dialect, async (store, target) => {
      await store.preparations.claim(key, lease("a"));
      await store.preparations.save(key, "a", Buffer.from("tokens"));
      await expect(
        runOnce(store, newRecord("e1"), () => Promise.reject(new Error("no")), committing()),
      ).rejects.toThrow();
      expect(await countOf(target, "oncehook_preparations")).toBe(1);
      await runOnce(store, newRecord("e1"), async () => ({ result: {} }), committing());
      expect(await countOf(target, "oncehook_preparations")).toBe(0);
    }));

  it("another source's event with the same id keeps its result when an event is complete", () =>
    withStore(dialect, async (store) => {
      const other = { ...key, source: "other" };
      for (const one of [key, other]) {
        await store.preparations.claim(one, lease("a"));
        await store.preparations.save(one, "a", Buffer.from(one.source));
      }
      await runOnce(store, newRecord("e1"), async () => ({ result: {} }), committing());
      expect(await store.preparations.get(key)).toBeUndefined();
      expect(Buffer.from((await store.preparations.get(other))!).toString()).toBe("other");
    }));
});

describe("preparations on postgres", () => {
  it("events that come together share the commit of their claims, and that of their results", () =>
    withStore("postgres", ({ preparations }, target) =>
      withClient(target, async (client) => {
        const commits = async () => {
          const { rows } = await client.query("SELECT DISTINCT xmin::text FROM oncehook_preparations");
          return rows.map(({ xmin }) => xmin);
        };
        await Promise.all(MANY.map((one) => preparations.claim(one, lease("a"))));
        const ofClaims = await commits();
        await Promise.all(MANY.map((one) => preparations.save(one, "a", Buffer.from("done"))));
        const ofResults = await commits();
        expect([ofClaims.length, ofResults.length, ofClaims[0] === ofResults[0]]).toEqual([1, 1, false]);
      }),
    ));

  it("their statements use indexes although the plans were kept while the tables were empty", async () => {
    await withStore("postgres", async ({ preparations }, target) => {
      const statements = await statementsOf(async () => {
        await preparations.claim(key, lease("a"));
        await preparations.save(key, "a", Buffer.from("done"));
      });
      const joined = [...statements, ...hotStatements()].filter((text) => text.includes("unnest"));
      expect(joined.length).toBeGreaterThan(5);
      await withClient(target, async (client) => {
        await client.query("SET plan_cache_mode = force_generic_plan");
        for (const text of joined) {
          await client.query(`PREPARE judged AS ${text}`);
          const count = new Set(text.match(/\$\d+/g)).size;
          const nulls = Array.from({ length: count }, () => "NULL").join(", ");
          const { rows } = await client.query(`EXPLAIN EXECUTE judged(${nulls})`);
          await client.query("DEALLOCATE judged");
          expect(rows.map((row) => row["QUERY PLAN"]).join("\n")).not.toContain("Seq Scan");
        }
      });
    });
  });

  it("a claim that waited for the commit which completes the event reports that", () =>
    withStore("postgres", async (store, target) => {
      await store.preparations.claim(key, lease("dead"));
      await withClient(target, async (client) => {
        await client.query("BEGIN");
        await client.query("DELETE FROM oncehook_preparations");
        await client.query(`INSERT INTO oncehook_records
          (source, event_id, event_type, version, status, body_sha256, result, created_at, processed_at)
          VALUES ('platform', 'e1', 't', 'v1', 'completed', 'ab', '{}', now(), now())`);
        const claim = store.preparations.claim(key, lease("b", 999));
        await until(async () => {
          const waiting =
            "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
          return (await client.query(waiting)).rows.length > 0;
        });
        await client.query("COMMIT");
        expect((await claim).state).toBe("completed");
        expect(await countOf(target, "oncehook_preparations")).toBe(0);
      });
    }));
});
