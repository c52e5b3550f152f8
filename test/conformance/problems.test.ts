import { describe, expect, it } from "vitest";
import type { Store } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { newFailure } from "../support/failure.ts";
import { runOnce } from "../support/once.ts";

const T0 = new Date("2026-06-15T12:00:00.000Z");
const at = (minutes: number) => new Date(T0.getTime() + minutes * 60_000);
const NOW = at(90);

function fail(store: Store, source: string, eventId: string, error: string, minutes = 0): Promise<void> {
  const over = { error, eventType: "order", firstFailedAt: at(minutes) };
  return store.failures.record(newFailure({ source, eventId }, null, over), at(minutes));
}

async function listed(store: Store, now = NOW) {
  const { problems, isComplete } = await store.problems.list(now);
  expect(isComplete).toBe(true);
  return problems;
}

/** Copies of the failure of the event `e0`, within the same hour. */
function manyFailures(dialect: "sqlite" | "postgres", count: number): string {
  const numbers =
    dialect === "sqlite"
      ? `WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < ${count})`
      : `WITH g AS (SELECT generate_series(1, ${count}) AS n)`;
  const columns = `source, event_type, version, attempts, retries_done, code, error, encrypted_body, body_sha256,
    first_failed_at, last_failed_at, next_attempt_at, problem_id`;
  return `${numbers} INSERT INTO oncehook_failures (event_id, state, ${columns})
    SELECT 'copy_' || n, CASE WHEN n % 3 = 0 THEN 'waiting' ELSE 'exhausted' END, ${columns}
    FROM g CROSS JOIN oncehook_failures AS f WHERE f.event_id = 'e0'`;
}

const AT = "\n    at charge (/app/shop.ts:4:9)";

/** Notifications whose deliveries by webhook are dead, with these errors. */
async function deadDeliveries(store: Store, errors: readonly string[]): Promise<void> {
  for (const [index] of errors.entries()) {
    const enqueued = async ({ enqueue }: { enqueue: (one: { topic: string; payload: object }) => Promise<void> }) => {
      await enqueue({ topic: "order.paid", payload: {} });
      return { result: {} };
    };
    await runOnce(store, newRecord(`n${index}`), enqueued as never, committing());
  }
  await store.outbox.fanOut(["webhook"], T0, 100);
  const due = await store.notificationDeliveries.leaseDue(["webhook"], { owner: "a", now: T0, until: at(1) }, 100);
  for (const [index, { id }] of due.entries())
    await store.notificationDeliveries.markFailed(id, "a", errors[index] ?? "", null, at(index));
}

describe.each(DIALECTS)("problems on %s", (dialect) => {
  it("failures of one source, type, place and message without ids are one problem, whatever the tenant", () =>
    withStore(dialect, async (store) => {
      await fail(store, "shop/acme", "e1", `Error: no order 17${AT}`, 0);
      await fail(store, "shop/inn", "e2", `Error: no order 4711${AT}`, 60);
      await fail(store, "shop/acme", "e3", `Error: no order 17\n    at refund (/app/shop.ts:9:9)`, 30);
      await fail(store, "stripe", "e4", `Error: no order 17${AT}`, 30);
      const problems = await listed(store);
      const title = expect.stringMatching(/^order of shop failed: Error: no order \d+$/);
      expect(problems).toHaveLength(3);
      expect(problems[0]).toMatchObject({
        ...{
          kind: "failure",
          source: "shop",
          eventType: "order",
          code: "handler_failed",
          title,
          count: 2,
          state: "open",
        },
        ...{ states: { exhausted: 2 }, firstSeen: at(0).toISOString(), lastSeen: at(60).toISOString(), reopened: 0 },
        example: { source: "shop/inn", eventId: "e2", notificationId: null },
      });
      expect(problems[0]?.hourly.slice(-3)).toEqual([0, 1, 1]);
    }));

  it("one cause in two handlers of a type is two problems, and each names its handler", () =>
    withStore(dialect, async (store) => {
      await fail(store, "shop/acme", "e1", "Error: no order");
      await fail(store, "shop/acme#audit", "e1", "Error: no order");
      const problems = (await listed(store)).map(({ source, title }) => `${source}, ${title}`).sort();
      expect(problems).toEqual([
        "shop, order of shop failed: Error: no order",
        "shop, order of shop#audit failed: Error: no order",
      ]);
    }));

  it("a problem is resolved when none of its failures is left, and reopened when one comes", () =>
    withStore(dialect, async (store) => {
      await fail(store, "shop", "e1", "Error: no order 1");
      await fail(store, "shop", "e2", "TypeError: none");
      const [id] = (await listed(store)).filter(({ title }) => title.includes("order 1")).map((one) => one.id);
      await store.failures.remove({ source: "shop", eventId: "e1" });
      const later = at(95).toISOString();
      expect((await listed(store, at(95))).map(({ state, count, resolvedAt }) => [state, count, resolvedAt])).toEqual([
        ["open", 1, null],
        ["resolved", 0, later],
      ]);
      expect((await listed(store, at(99)))[1]).toMatchObject({ id, state: "resolved", resolvedAt: later });
      await fail(store, "shop", "e3", "Error: no order 2", 100);
      for (const minutes of [101, 102])
        expect((await listed(store, at(minutes))).filter((one) => one.id === id)).toMatchObject([
          { state: "open", reopened: 1, resolvedAt: null, count: 1 },
        ]);
    }));

  it("one problem is read as the list has it, whether it is open, new or resolved", () =>
    withStore(dialect, async (store) => {
      await fail(store, "shop", "e1", `Error: no order 17${AT}`, 0);
      await fail(store, "shop", "e2", "TypeError: none", 1);
      await deadDeliveries(store, ["Error: down"]);
      for (const problem of await listed(store)) {
        expect(await store.problems.get(problem.id, NOW)).toEqual(problem);
        expect(problem).toMatchObject({ count: 1, isAtLeast: false });
      }
      await fail(store, "shop", "e3", "RangeError: new", 2);
      await store.failures.remove({ source: "shop", eventId: "e2" });
      const before = await store.problems.list(NOW);
      const states = await Promise.all(before.problems.map(({ id }) => store.problems.get(id, NOW)));
      expect(states).toEqual(before.problems);
      expect(await store.problems.get("none", NOW)).toBeUndefined();
    }));

  it("a problem that was never listed is open once it is read, and resolved when it is read without a failure", () =>
    withStore(dialect, async (store) => {
      await fail(store, "shop", "e1", "Error: no order 1");
      const id = (await listed(store))[0]?.id ?? "";
      await store.failures.remove({ source: "shop", eventId: "e1" });
      expect(await store.problems.get(id, at(95))).toMatchObject({
        state: "resolved",
        resolvedAt: at(95).toISOString(),
      });
      await fail(store, "shop", "e2", "Error: no order 2", 100);
      expect(await store.problems.get(id, at(101))).toMatchObject({ state: "open", reopened: 1, count: 1 });
      expect(await store.problems.get(id, at(102))).toMatchObject({ state: "open", reopened: 1 });
    }));

  it("more failures than are read by the hour are counted exactly, with their states and times", { tags: "full" }, () =>
    withStore(dialect, async (store, target) => {
      await fail(store, "shop", "e0", `Error: no order 1${AT}`);
      const [found] = await listed(store);
      await execute(target, manyFailures(dialect, 30_000));
      await fail(store, "shop", "last", `Error: no order 2${AT}`, 80);
      await fail(store, "shop", "other", "TypeError: none", 80);
      const id = found?.id ?? "";
      const all = Number.POSITIVE_INFINITY;
      const [most] = (await store.problems.list(NOW, all)).problems;
      for (const problem of [most, await store.problems.get(id, NOW, all)]) {
        expect(problem).toMatchObject({
          ...{ id, count: 30_002, isAtLeast: false, states: { exhausted: 20_002, waiting: 10_000 } },
          ...{ firstSeen: at(0).toISOString(), lastSeen: at(80).toISOString(), example: { eventId: "last" } },
        });
        const byHour = problem?.hourly.reduce((sum, count) => sum + count, 0) ?? 0;
        expect(byHour).toBeGreaterThan(0);
        expect(byHour).toBeLessThan(30_002);
      }
      // Without time to count, it says that there are more, and still since when.
      const cut = await store.problems.get(id, NOW, 0);
      expect(cut).toMatchObject({ isAtLeast: true, firstSeen: at(0).toISOString(), example: { eventId: "last" } });
      expect(cut?.count).toBeLessThan(30_002);
    }),
  );

  it("rows that an earlier version stored get their problem when problems are listed", () =>
    withStore(dialect, async (store, target) => {
      await fail(store, "shop", "e1", `Error: no order 17${AT}`);
      const [before] = await listed(store);
      await execute(target, "UPDATE oncehook_failures SET problem_id = ''");
      expect((await listed(store)).map(({ id, count }) => [id, count])).toEqual([[before?.id, 1]]);
    }));

  it("a bulk replay and a list can be of one problem, and count it exactly", () =>
    withStore(dialect, async (store) => {
      for (const id of ["e1", "e2", "e3"]) await fail(store, "shop", id, `Error: no order ${id}`);
      await fail(store, "shop", "other", "TypeError: none");
      const [problem] = await listed(store);
      const filter = { problem: problem?.id };
      const bulk = await store.bulkReplays.create({ filter, perSecond: 10, createdBy: "token" }, NOW);
      expect(bulk).toMatchObject({ total: 3, filter });
      expect((await store.bulkReplays.next(bulk, 10)).map(({ eventId }) => eventId)).toEqual(["e1", "e2", "e3"]);
      const page = await store.failures.search(filter, { limit: 2, budgetMs: 0 });
      expect(page.rows.map(({ eventId }) => eventId)).toEqual(["e3", "e2"]);
      const rest = await store.failures.search(
        { ...filter, state: "exhausted" },
        { limit: 2, budgetMs: 0, before: page.next ?? 0 },
      );
      expect(rest.rows.map(({ eventId }) => eventId)).toEqual(["e1"]);
      const events = await store.problemEvents.search(problem as never, { limit: 2, budgetMs: 0 });
      expect(events.rows).toMatchObject([{ eventId: "e3", state: "exhausted", error: "Error: no order e3" }, {}]);
    }));

  it("failed deliveries of one channel and status are one problem, and are delivered again together", () =>
    withStore(dialect, async (store) => {
      const answered = (status: number) =>
        `Error: the webhook's endpoint answered ${status}, expected 2xx\n    at x (/y.js:1:1)`;
      await deadDeliveries(store, [answered(503), answered(503), answered(404)]);
      const problems = await listed(store);
      expect(problems).toMatchObject([
        { kind: "delivery", source: "webhook", count: 2, code: "delivery_failed", example: { eventId: "n1" } },
        { title: "Notifications by webhook could not be delivered: the webhook's endpoint answered 404, expected 2xx" },
      ]);
      const [most] = problems;
      const events = await store.problemEvents.search(most as never, { limit: 10, budgetMs: 0 });
      const { eventType } = newRecord("n0");
      expect(events.rows).toMatchObject([
        { eventId: "n1", at: at(1).toISOString(), topic: "order.paid", eventType, alert: null },
        { eventId: "n0", at: at(0).toISOString() },
      ]);
      expect(await store.outbox.redeliverProblem(most?.id ?? "", NOW)).toBe(2);
      expect(await store.outbox.counts()).toEqual({ waiting: 2, dead: 1 });
      expect((await listed(store)).map(({ count, state }) => [count, state])).toEqual([
        [1, "open"],
        [0, "resolved"],
      ]);
    }));

  it("a muted problem is open again once its time has come, and its failures start no alert until then", () =>
    withStore(dialect, async (store) => {
      await fail(store, "shop", "e1", "Error: no order 1");
      const [problem] = await listed(store);
      const mute = { until: at(120), by: "ann@example.com", reason: "known" };
      expect(await store.problemStates.mute(problem?.id ?? "", mute)).toBe(true);
      expect(await store.problemStates.mute("none", mute)).toBe(false);
      expect(await listed(store, at(119))).toMatchObject([
        { state: "muted", mutedUntil: at(120).toISOString(), mutedBy: "ann@example.com", muteReason: "known" },
      ]);
      const counts = async (now: Date) => (await store.alerts.exhausted(10, now)).types;
      expect(await counts(at(119))).toEqual([{ source: "shop", eventType: "order", count: 0, muted: 1 }]);
      expect(await listed(store, at(121))).toMatchObject([{ state: "open", mutedUntil: null }]);
      expect(await counts(at(121))).toEqual([{ source: "shop", eventType: "order", count: 1, muted: 0 }]);
    }));
});
