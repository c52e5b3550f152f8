import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { BulkReplayView } from "../../src/admin-client/index.ts";
import { defineHandler } from "../../src/index.ts";
import { describeFullOnPostgres, fullOnPostgres, withDatabase } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { withLock } from "../support/held-lock.ts";
import { conforms } from "../support/openapi.ts";
import {
  type CallbackResponse,
  event,
  type ReceiverOptions,
  startReceiver,
  type TestReceiver,
  withReceiver,
} from "../support/receiver.ts";
import { until } from "../support/until.ts";

const POLL = 20;
const plan = { down: true, broken: new Set<string>(), ran: [] as string[] };
const handlers = [
  defineHandler({
    type: "unreliable",
    data: z.object({}),
    async handle({ event }) {
      plan.ran.push(event.event_id);
      if (plan.down || plan.broken.has(event.event_id)) throw new Error("down");
      return {};
    },
  }),
];
const EXHAUSTED: ReceiverOptions = { handlers, bulkPollMs: POLL, env: { RETRY_MAX: "0" } };
const bulkOf = ({ body }: CallbackResponse) => body as unknown as BulkReplayView;

/** So many failed events; what fails from then on is in the plan. */
async function failures(receiver: TestReceiver, count: number): Promise<string[]> {
  Object.assign(plan, { down: true, broken: new Set(), ran: [] });
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const sent = event("unreliable", {});
    expect((await receiver.send(sent)).status).toBe(500);
    ids.push(sent.event_id);
  }
  plan.down = false;
  plan.ran = [];
  return ids;
}

async function start(receiver: TestReceiver, filter: object, per_second = 100): Promise<BulkReplayView> {
  const answer = await receiver.admin("/api/v1/bulk-replays", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ filter, per_second }),
  });
  expect(answer.status).toBe(201);
  conforms("/api/v1/bulk-replays", "post", answer);
  return bulkOf(answer);
}

async function look(receiver: TestReceiver, id: number): Promise<BulkReplayView> {
  const answer = await receiver.admin(`/api/v1/bulk-replays/${id}`);
  conforms("/api/v1/bulk-replays/{id}", "get", answer);
  return bulkOf(answer);
}

async function ended(receiver: TestReceiver, id: number): Promise<BulkReplayView> {
  await until(async () => (await look(receiver, id)).ended_at !== null, 60_000);
  return look(receiver, id);
}

async function change(receiver: TestReceiver, id: number, action: string): Promise<CallbackResponse> {
  const answer = await receiver.admin(`/api/v1/bulk-replays/${id}/${action}`, { method: "POST" });
  conforms(`/api/v1/bulk-replays/{id}/${action}`, "post", answer);
  return answer;
}

describeFullOnPostgres("a bulk replay on %s", (dialect) => {
  it("a bulk replay runs each failure of its filter once, counts how they ended, and leaves the others alone", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const ids = await failures(receiver, 12);
        const [broken = "", other = "", ...rest] = ids;
        plan.broken = new Set([broken]);
        await execute(receiver.target, `UPDATE oncehook_failures SET source = 'oauth' WHERE event_id = '${other}'`);
        const bulk = await start(receiver, { state: "exhausted", source: "platform" });
        expect(bulk).toMatchObject({
          total: 11,
          done: 0,
          per_second: 100,
          created_by: "token",
          ended_at: null,
        });
        expect(await ended(receiver, bulk.id)).toMatchObject({
          filter: { state: "exhausted", source: "platform" },
          state: "done",
          total: 11,
          done: 11,
          succeeded: 10,
          already_handled: 0,
          failed: 1,
        });
        expect(plan.ran.toSorted()).toEqual([broken, ...rest].toSorted());
        const attempts = "attempts = 2 AND state = 'exhausted'";
        expect(await receiver.count("oncehook_failures", `event_id = '${broken}' AND ${attempts}`)).toBe(1);
        expect(await receiver.count("oncehook_failures", `event_id = '${other}'`)).toBe(1);
        expect(await receiver.count("oncehook_attempts", "triggered_by = 'bulk' AND outcome = 'success'")).toBe(10);
        expect(await receiver.count("oncehook_attempts", "outcome = 'handler_failed'")).toBe(1);
      },
      EXHAUSTED,
    ));

  it(
    "a bulk replay starts no replay while paused, continues when resumed, and ends when cancelled",
    { tags: fullOnPostgres(dialect) },
    () =>
      withReceiver(
        dialect,
        async (receiver) => {
          await failures(receiver, 30);
          const { id } = await start(receiver, {}, 4);
          await until(() => plan.ran.length >= 2, 60_000);
          expect(bulkOf(await change(receiver, id, "pause"))).toMatchObject({ state: "paused" });
          // A replay that was begun in that moment may still come to its end.
          await until(async () => (await look(receiver, id)).done === plan.ran.length, 60_000);
          const paused = plan.ran.length;
          await sleep(600);
          expect(plan.ran.length).toBe(paused);
          expect(bulkOf(await change(receiver, id, "resume"))).toMatchObject({ state: "running" });
          await until(() => plan.ran.length > paused, 60_000);
          expect(bulkOf(await change(receiver, id, "cancel"))).toMatchObject({ state: "cancelled" });
          await until(async () => (await look(receiver, id)).done === plan.ran.length, 60_000);
          expect(await look(receiver, id)).toMatchObject({ state: "cancelled", total: 30 });
          expect(await receiver.count("oncehook_failures")).toBe(30 - plan.ran.length);
          for (const action of ["pause", "resume", "cancel"])
            expect((await change(receiver, id, action)).status).toBe(409);
        },
        EXHAUSTED,
      ),
  );

  it("a bulk replay starts no more replays a second than its rate", { tags: "full" }, () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await failures(receiver, 9);
        const begun = performance.now();
        const { id } = await start(receiver, {}, 4);
        await ended(receiver, id);
        // Eight turns of a quarter of a second lie between nine replays.
        expect(performance.now() - begun).toBeGreaterThan(1_950);
      },
      EXHAUSTED,
    ),
  );

  it(
    "a bulk replay waits for a failure that another run has leased, without delaying the others",
    { tags: fullOnPostgres(dialect) },
    () =>
      withReceiver(
        dialect,
        async (receiver) => {
          const [held = "", ...others] = await failures(receiver, 20);
          const leasing = "UPDATE oncehook_failures SET lease_owner = 'another', leased_until";
          await execute(receiver.target, `${leasing} = '2999-01-01T00:00:00.000Z' WHERE event_id = '${held}'`);
          const { id } = await start(receiver, {});
          await until(async () => (await look(receiver, id)).done === 19, 60_000);
          expect(plan.ran.toSorted()).toEqual(others.toSorted());
          expect(await look(receiver, id)).toMatchObject({ state: "running" });
          await execute(receiver.target, `${leasing} = '2000-01-01T00:00:00.000Z' WHERE event_id = '${held}'`);
          expect(await ended(receiver, id)).toMatchObject({ succeeded: 20, already_handled: 0, failed: 0 });
          expect(plan.ran).toHaveLength(20);
        },
        EXHAUSTED,
      ),
  );

  it("a bulk replay counts what was discarded before its turn as already done with", { tags: "full" }, () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const ids = await failures(receiver, 12);
        const { id } = await start(receiver, {}, 1);
        await change(receiver, id, "pause");
        await receiver.admin(`/api/v1/failures/platform/${ids.at(-1)}`, { method: "DELETE" });
        await execute(receiver.target, "UPDATE oncehook_bulk_replays SET per_second = 100");
        await change(receiver, id, "resume");
        expect(await ended(receiver, id)).toMatchObject({
          total: 12,
          done: 12,
          succeeded: 11,
          already_handled: 1,
        });
      },
      EXHAUSTED,
    ),
  );

  it("a bulk replay goes on in the next process when its own one stops", { tags: "full" }, () =>
    withDatabase(dialect, async (target) => {
      const first = await startReceiver(target, EXHAUSTED);
      await failures(first, 20);
      const { id } = await start(first, {}, 8);
      await until(() => plan.ran.length >= 4, 60_000);
      await first.stop();
      const before = plan.ran.length;
      expect(before).toBeLessThan(20);
      const second = await startReceiver(target, EXHAUSTED);
      expect(await ended(second, id)).toMatchObject({
        state: "done",
        succeeded: 20,
        already_handled: 0,
        failed: 0,
      });
      expect(plan.ran).toHaveLength(20);
      await second.stop();
    }),
  );

  it("two processes and two bulk replays at the same time share no failure", () =>
    withDatabase(dialect, async (target) => {
      const receivers = [await startReceiver(target, EXHAUSTED), await startReceiver(target, EXHAUSTED)];
      const [first, second] = receivers as [TestReceiver, TestReceiver];
      await failures(first, 40);
      const bulks = [await start(first, {}), await start(second, { state: "exhausted" })];
      const ends = await Promise.all(bulks.map(({ id }) => ended(second, id)));
      expect(plan.ran).toHaveLength(40);
      expect(new Set(plan.ran).size).toBe(40);
      expect(ends.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(40);
      expect(ends.map(({ done, total }) => done === total)).toEqual([true, true]);
      for (const receiver of receivers) await receiver.stop();
    }));

  it(
    "a bulk replay tries no event twice where one fails again, also when it is looked at once more",
    { tags: "full" },
    () =>
      withReceiver(
        dialect,
        async (receiver) => {
          const ids = await failures(receiver, 10);
          plan.broken = new Set(ids.slice(1));
          const leasing = "UPDATE oncehook_failures SET lease_owner = 'another', leased_until";
          await execute(receiver.target, `${leasing} = '2999-01-01T00:00:00.000Z' WHERE event_id = '${ids[0]}'`);
          const { id } = await start(receiver, {});
          await until(async () => (await look(receiver, id)).failed === 9, 60_000);
          await execute(receiver.target, `${leasing} = '2000-01-01T00:00:00.000Z' WHERE event_id = '${ids[0]}'`);
          expect(await ended(receiver, id)).toMatchObject({ succeeded: 1, already_handled: 0, failed: 9 });
          expect(plan.ran).toHaveLength(10);
          const again = await start(receiver, {});
          expect(await ended(receiver, again.id)).toMatchObject({ total: 9, failed: 9 });
        },
        EXHAUSTED,
      ),
  );

  it("a bulk replay is refused without a filter, with an unknown one, and above the permitted rate", () =>
    withReceiver(dialect, async (receiver) => {
      const bodies = [{}, { filter: { status: "waiting" } }, { filter: {}, per_second: 101 }, { filter: 1 }];
      for (const body of bodies) {
        const answer = await receiver.admin("/api/v1/bulk-replays", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        });
        expect([answer.status, typeof answer.body.error]).toEqual([400, "string"]);
      }
      expect(await receiver.count("oncehook_bulk_replays")).toBe(0);
      expect((await receiver.admin("/api/v1/bulk-replays/1")).status).toBe(404);
      expect((await change(receiver, 1, "pause")).status).toBe(404);
      const listed = await receiver.admin("/api/v1/bulk-replays");
      conforms("/api/v1/bulk-replays", "get", listed);
    }));
});

/** On SQLite nobody else can hold an event for so long without holding everything. */
describe("a bulk replay on postgres", () => {
  it(
    "a bulk replay tries an event again, and counts it once, where another process is at work on it longer than a replay may wait",
    { tags: "full" },
    () =>
      withReceiver(
        "postgres",
        async (receiver) => {
          const [eventId] = await failures(receiver, 1);
          const record = `INSERT INTO oncehook_records (source, event_id, event_type, version, status, body_sha256, created_at)
          VALUES ('platform', '${eventId}', 'unreliable', 'v1', 'processing', 'ab', now())`;
          const id = await withLock(receiver.target, record, async () => {
            const begun = await start(receiver, {});
            const leased = () => receiver.count("oncehook_failures", "lease_owner IS NOT NULL");
            await until(async () => (await leased()) === 1, 60_000);
            await until(async () => (await leased()) === 0, 60_000);
            expect(await look(receiver, begun.id)).toMatchObject({ state: "running", done: 0 });
            return begun.id;
          });
          expect(await ended(receiver, id)).toMatchObject({
            total: 1,
            succeeded: 1,
            already_handled: 0,
            failed: 0,
          });
          expect(plan.ran).toEqual([eventId]);
          expect(await receiver.count("oncehook_attempts")).toBe(1);
        },
        { ...EXHAUSTED, env: { RETRY_MAX: "0", REQUEST_TIMEOUT_MS: "1000", HANDLER_TIMEOUT_MS: "900" } },
      ),
  );

  it("a bulk replay counts an event whose type has no handler here as failed, once", { tags: "full" }, () =>
    withDatabase("postgres", async (target) => {
      const first = await startReceiver(target, EXHAUSTED);
      await failures(first, 2);
      await first.stop();
      const second = await startReceiver(target, { ...EXHAUSTED, handlers: [] });
      const { id } = await start(second, {});
      expect(await ended(second, id)).toMatchObject({
        total: 2,
        succeeded: 0,
        already_handled: 0,
        failed: 2,
      });
      expect(await second.count("oncehook_failures", "attempts = 1")).toBe(2);
      expect(await second.count("oncehook_attempts")).toBe(0);
      await second.stop();
    }),
  );
});
