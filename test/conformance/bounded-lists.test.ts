import { describe, expect, it } from "vitest";
import type { SearchPage, SearchResult, Store } from "../../src/store/index.ts";
import { DIALECTS, type Target, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { runOnce } from "../support/once.ts";
import { seedRows } from "../support/query-plans.ts";

const FAILURE = { eventType: "t", version: "v1", error: "no", bodySha256: "ab", nextAttemptAt: null };
const ENTRY = {
  at: new Date("2026-01-01T00:00:00.000Z"),
  actor: "ada",
  role: "operator",
  remoteAddress: "127.0.0.1",
  action: "failure.replay",
  detail: null,
  outcome: "done",
} as const;
const T0 = new Date("2026-01-01T00:00:00.000Z");

type Searching = (store: Store, search: SearchPage) => Promise<SearchResult<{ readonly eventId: string }>>;
const rareFailures: Searching = ({ failures }, search) => failures.search({ code: "handler_timed_out" }, search);
const recordsOfSource: Searching = ({ records }, search) => records.search({ source: "rare" }, search);
const delivered: Searching = ({ notifications }, search) => notifications.search({ state: "delivered" }, search);
const ofActorAndAction: Searching = async ({ audit }, search) => {
  const { rows, next } = await audit.search({ actor: "ada", action: "failure.replay" }, search);
  return { rows: rows.map(({ id, target }) => ({ id, eventId: String(target) })), next };
};

/** Three thousand others after each of the two that are meant. */
async function seed(store: Store, target: Target): Promise<void> {
  for (const eventId of ["first", "second"]) {
    await store.audit.begin({ ...ENTRY, target: eventId });
    await runOnce(store, newRecord(eventId, { source: "rare" }), async () => ({ result: {} }), committing());
    await store.failures.record(
      {
        ...FAILURE,
        source: "platform",
        eventId,
        code: "handler_timed_out",
        encryptedBody: new Uint8Array([1]),
      },
      T0,
    );
  }
  await seedRows(target);
  await execute(target, "UPDATE oncehook_deliveries SET state = 'dead' WHERE notification_id > 2");
}

describe.each(DIALECTS)("a list of which a filter leaves little on %s", { tags: "full" }, (dialect) => {
  it.each([
    ["failures", rareFailures, ["second", "first"]],
    ["records of a source", recordsOfSource, ["second", "first"]],
    ["audit entries of an actor and an action", ofActorAndAction, ["second", "first"]],
    ["notifications that are delivered", delivered, ["seed-2", "seed-1"]],
  ])("a list ends at its time limit for %s, and continues from there", (_, searching, meant) =>
    withStore(dialect, async (store, target) => {
      await seed(store, target);
      const first = await searching(store, { limit: 5, budgetMs: 0 });
      expect(first.rows).toEqual([]);
      const found: string[] = [];
      for (let { next } = first; next !== null; ) {
        const page = await searching(store, { limit: 1, before: next, budgetMs: 0 });
        found.push(...page.rows.map(({ eventId }) => eventId));
        next = page.next;
      }
      expect(found).toEqual(meant);
    }),
  );

  it.each([
    ["failures", rareFailures, 2],
    ["records of a source", recordsOfSource, 2],
    ["audit entries of an actor and an action", ofActorAndAction, 2],
    ["notifications that are delivered", delivered, 2],
  ])("a list yields to other work while it looks for %s", (_, searching, count) =>
    withStore(dialect, async (store, target) => {
      await seed(store, target);
      let [turns, isOver] = [0, false];
      const turn = () => {
        turns += 1;
        if (!isOver) setImmediate(turn);
      };
      setImmediate(turn);
      const { rows, next } = await searching(store, { limit: 5, budgetMs: 60_000 });
      isOver = true;
      expect([rows.length, next]).toEqual([count, null]);
      // 3,000 rows in steps of 256 that are at most doubled each time.
      expect(turns).toBeGreaterThanOrEqual(3);
    }),
  );
});
