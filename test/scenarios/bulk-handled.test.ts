import { expect, it } from "vitest";
import { z } from "zod";
import type { BulkReplayTrialView, BulkReplayView, UnreplayedEventView } from "../../src/admin-client/index.ts";
import { defineHandler } from "../../src/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { EFFECTS, rowsOf } from "../support/effects.ts";
import { conforms } from "../support/openapi.ts";
import {
  type CallbackResponse,
  event,
  type ReceiverOptions,
  type TestReceiver,
  withReceiver,
} from "../support/receiver.ts";
import { until } from "../support/until.ts";

const plan = { tax: 1, broken: new Set<string>() };
const taxed = defineHandler({
  type: "taxed",
  data: z.object({}),
  async handle({ event: { event_id }, tx }) {
    await tx.query.insertInto("effects").values({ event_id }).execute();
    if (plan.broken.has(event_id)) throw new Error("still broken");
    return { tax: plan.tax };
  },
});
const OPTIONS: ReceiverOptions = { handlers: [taxed], migrations: [EFFECTS], bulkPollMs: 20 };
const FILTER = { source: "platform", event_type: "taxed" };
const REASON = "the tax was wrong";

async function handleMany(receiver: TestReceiver, count: number): Promise<string[]> {
  Object.assign(plan, { tax: 1, broken: new Set() });
  const ids = Array.from({ length: count }, (_, index) => `evt_${index}`);
  for (const event_id of ids) expect((await receiver.send(event("taxed", {}, { event_id }))).status).toBe(200);
  plan.tax = 2;
  return ids;
}

async function start(receiver: TestReceiver, body: object, query = ""): Promise<CallbackResponse> {
  const answer = await receiver.admin(`/api/v1/bulk-replays${query}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ scope: "events", filter: FILTER, per_second: 100, ...body }),
  });
  conforms("/api/v1/bulk-replays", "post", answer);
  return answer;
}

async function ended(receiver: TestReceiver, { body }: CallbackResponse): Promise<BulkReplayView> {
  const { id } = body as unknown as BulkReplayView;
  const look = async () => {
    const answer = await receiver.admin(`/api/v1/bulk-replays/${id}`);
    conforms("/api/v1/bulk-replays/{id}", "get", answer);
    return answer.body as unknown as BulkReplayView;
  };
  await until(async () => (await look()).ended_at !== null, 60_000);
  return look();
}

const effectsOf = async ({ target }: TestReceiver) =>
  (await rowsOf(target, "SELECT event_id, count(*) AS n FROM effects GROUP BY event_id ORDER BY event_id")).map(
    ({ event_id, n }) => [event_id, Number(n)],
  );

describeFullOnPostgres("a bulk replay of handled events on %s", (dialect) => {
  it("each event of the filter is run again once, and those that fail or cannot run are listed with their reasons", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const ids = await handleMany(receiver, 12);
        await receiver.send(event("payment_notify", { order_id: "o1", amount: 1 }, { event_id: "of another type" }));
        plan.broken = new Set([ids[3] ?? ""]);
        await rowsOf(receiver.target, "SELECT 1 AS one");
        const answer = await start(receiver, { reason: REASON });
        expect([answer.status, answer.body]).toMatchObject([201, { scope: "events", total: 12, reason: REASON }]);
        const bulk = await ended(receiver, answer);
        expect(bulk).toMatchObject({
          state: "done",
          done: 12,
          succeeded: 11,
          failed: 1,
          skipped: 0,
          already_handled: 0,
        });
        const listed = await receiver.admin(`/api/v1/bulk-replays/${bulk.id}/events`);
        conforms("/api/v1/bulk-replays/{id}/events", "get", listed);
        const items = listed.body.items as UnreplayedEventView[];
        expect(items).toMatchObject([
          {
            kind: "failed",
            source: "platform",
            event_id: ids[3],
            code: "handler_failed",
            error: expect.stringContaining("still"),
          },
        ]);
        expect(await effectsOf(receiver)).toEqual(ids.map((id) => [id, id === ids[3] ? 1 : 2]).toSorted());
        expect(await receiver.count("oncehook_failures")).toBe(0);
        expect(await receiver.count("oncehook_records", `result = '{"tax":2}'`)).toBe(11);
        expect(await receiver.count("oncehook_event_replays", `reason = '${REASON}' AND actor = 'token'`)).toBe(11);
      },
      OPTIONS,
    ));

  it("events without an original are skipped, and none of them counts as failed", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await handleMany(receiver, 3);
        const bulk = await ended(receiver, await start(receiver, { reason: REASON }));
        expect(bulk).toMatchObject({ succeeded: 0, failed: 0, skipped: 3, done: 3 });
        const { items } = (await receiver.admin(`/api/v1/bulk-replays/${bulk.id}/events?kind=skipped`)).body;
        expect(items).toMatchObject([{ code: "no_original" }, { code: "no_original" }, { code: "no_original" }]);
        const failed = await receiver.admin(`/api/v1/bulk-replays/${bulk.id}/events?kind=failed`);
        expect(failed.body.items).toEqual([]);
      },
      { ...OPTIONS, env: { KEEP_ORIGINALS: "0" } },
    ));

  it("its dry run needs no reason, counts the events, runs the first ones dry, and starts nothing", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await handleMany(receiver, 3);
        const answer = await start(receiver, {}, "?dry_run=true");
        expect(answer.status).toBe(200);
        expect(answer.body as unknown as BulkReplayTrialView).toMatchObject({
          total: 3,
          first: {
            event_id: "evt_0",
            skipped: null,
            replay: { outcome: "success", dry_run: true, result: { tax: 2 } },
          },
          sample: { run: 3, skipped: 0, failed: [] },
        });
        expect(await receiver.count("oncehook_bulk_replays")).toBe(0);
        expect(await effectsOf(receiver)).toEqual([
          ["evt_0", 1],
          ["evt_1", 1],
          ["evt_2", 1],
        ]);
        const none = await start(receiver, { filter: { source: "platform", event_type: "none" } }, "?dry_run=true");
        expect(none.body).toEqual({ total: 0, first: null, sample: { run: 0, skipped: 0, failed: [] } });
      },
      OPTIONS,
    ));

  it("handled events are run again only with a source and a reason, and by no field of failures", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const mistakes: [object, string, string][] = [
          [{}, "", "reason: missing"],
          [{ filter: {}, reason: REASON }, "", "filter.source: missing"],
          [{ filter: { ...FILTER, state: "exhausted" }, reason: REASON }, "", "filter.state: is for failures"],
          [{ scope: "failures", filter: { from: "2026-01-01T00:00:00Z" } }, "", "filter.from: is for handled events"],
          [{ scope: "failures", filter: {} }, "?dry_run=true", "dry_run: is for handled events"],
        ];
        for (const [body, query, words] of mistakes) {
          const { status, body: answer } = await start(receiver, body, query);
          expect([body, status, answer.error]).toEqual([body, 400, expect.stringContaining(words)]);
        }
        expect(await receiver.count("oncehook_bulk_replays")).toBe(0);
      },
      OPTIONS,
    ));

  it("a bulk replay of handled events is paused, resumed and cancelled, and its duplicates stay duplicates", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const ids = await handleMany(receiver, 8);
        const { body } = await start(receiver, { reason: REASON, per_second: 4 });
        const { id } = body as unknown as BulkReplayView;
        const change = (verb: string) => receiver.admin(`/api/v1/bulk-replays/${id}/${verb}`, { method: "POST" });
        expect((await change("pause")).body).toMatchObject({ state: "paused" });
        const duplicates = await Promise.all(ids.map((event_id) => receiver.send(event("taxed", {}, { event_id }))));
        expect(duplicates.map((answer) => answer.body.status)).toEqual(ids.map(() => "already_processed"));
        await change("resume");
        await until(async () => (await receiver.count("oncehook_event_replays")) > 0);
        expect((await change("cancel")).body).toMatchObject({ state: "cancelled" });
        for (const [, count] of await effectsOf(receiver)) expect(count).toBeLessThanOrEqual(2);
      },
      OPTIONS,
    ));
});
