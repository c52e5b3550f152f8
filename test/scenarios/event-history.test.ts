import { expect, it } from "vitest";
import { z } from "zod";
import type { EventHistoryView } from "../../src/admin-client/index.ts";
import { defineHandler, Rejected } from "../../src/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { conforms } from "../support/openapi.ts";
import { event, payment, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const PATH = "/api/v1/events/{source}/{event_id}";
const plan = { fails: 0 };
const handlers = [
  defineHandler({
    type: "unreliable",
    data: z.object({}),
    async handle({ notify }) {
      plan.fails -= 1;
      if (plan.fails >= 0) throw new Error("down, token=hunter2hunter2");
      await notify("came.through", { done: true });
      return { done: true };
    },
  }),
  defineHandler({
    type: "picky",
    data: z.object({}),
    handle() {
      throw new Rejected("not this one");
    },
  }),
];
const RETRYING = { handlers, retryPollMs: 20, env: { RETRY_DELAY_SECONDS: "0.1", RETRY_MAX: "1" } };

async function historyOf(receiver: TestReceiver, id: string, query = ""): Promise<EventHistoryView> {
  const answer = await receiver.admin(`/api/v1/events/platform/${encodeURIComponent(id)}${query}`);
  expect(answer.status).toBe(200);
  conforms(PATH, "get", answer);
  return answer.body as unknown as EventHistoryView;
}

/** One word for each entry. */
const told = ({ timeline }: EventHistoryView) =>
  timeline.map((entry) => {
    switch (entry.kind) {
      case "attempt":
        return `${entry.by} ${entry.outcome}`;
      case "delivery":
        return `delivery ${entry.outcome}`;
      case "failure":
        return `failure ${entry.state}`;
      default:
        return entry.kind;
    }
  });

describeFullOnPostgres("the time line of an event on %s", (dialect) => {
  it("the timeline has the callback, retries and replays, the record and its notification, in order", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        plan.fails = 3;
        const sent = event("unreliable", {}, { event_id: "evt/with slash é" });
        expect((await receiver.send(sent)).status).toBe(500);
        await until(async () => (await receiver.count("oncehook_failures", "state = 'exhausted'")) === 1);
        const replay = `/api/v1/failures/platform/${encodeURIComponent(sent.event_id)}/replay`;
        await receiver.admin(replay, { method: "POST" });
        const failed = await historyOf(receiver, sent.event_id);
        expect(told(failed)).toEqual([
          "callback handler_failed",
          "retry handler_failed",
          "replay handler_failed",
          "failure exhausted",
        ]);
        expect(failed).toMatchObject({ event: null, failure: { attempts: 3 }, notifications: [] });
        await receiver.admin(replay, { method: "POST" });
        await receiver.send(sent);
        const history = await historyOf(receiver, sent.event_id);
        expect(told(history)).toEqual([
          "callback handler_failed",
          "retry handler_failed",
          "replay handler_failed",
          "replay success",
          "notification",
          "record",
          "delivery already_processed",
        ]);
        expect(history).toMatchObject({
          source: "platform",
          event_id: sent.event_id,
          event: { result: { done: true } },
          failure: null,
          timeline_cursor: null,
          notifications: [{ topic: "came.through" }],
        });
      },
      RETRYING,
    ));

  it("the timeline has an attempt's duration and its error with the stack, secrets masked", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        plan.fails = 2;
        const sent = event("unreliable", {});
        await receiver.send(sent);
        await until(async () => (await receiver.count("oncehook_attempts")) === 1);
        const attempts = (await historyOf(receiver, sent.event_id)).timeline.filter(({ kind }) => kind === "attempt");
        expect(attempts).toHaveLength(2);
        for (const attempt of attempts) {
          expect(attempt).toMatchObject({ outcome: "handler_failed", duration_ms: expect.any(Number) });
          expect(attempt).toMatchObject({
            error: expect.stringMatching(/^Error: down, token=\[masked\]\n +at /),
          });
        }
        expect(attempts).toMatchObject([
          { by: "callback", callback_id: expect.any(Number), response_status: 500 },
          { by: "retry", callback_id: null, response_status: null },
        ]);
      },
      RETRYING,
    ));

  it("the timeline distinguishes a run that the handler rejected from a callback that never reached one", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const rejected = event("picky", {});
        await receiver.send(rejected);
        expect(told(await historyOf(receiver, rejected.event_id))).toEqual(["callback rejected", "failure rejected"]);
        const unknown = event("nobody_handles_this", {});
        await receiver.send(unknown);
        expect(told(await historyOf(receiver, unknown.event_id))).toEqual(["delivery event_type_unknown"]);
      },
      { handlers },
    ));

  it("the timeline goes on page by page without a gap or a repetition", () =>
    withReceiver(dialect, async (receiver) => {
      const sent = payment();
      for (let times = 0; times < 6; times += 1) await receiver.send(sent);
      const whole = await historyOf(receiver, sent.event_id);
      const seen: unknown[] = [];
      let cursor: string | null = null;
      let pages = 0;
      do {
        const more: string = cursor === null ? "" : `&cursor=${cursor}`;
        const page: EventHistoryView = await historyOf(receiver, sent.event_id, `?limit=2${more}`);
        seen.push(...page.timeline);
        cursor = page.timeline_cursor;
        pages += 1;
      } while (cursor !== null);
      expect(pages).toBe(3);
      expect(new Set(seen.map((entry) => JSON.stringify(entry)))).toEqual(
        new Set(whole.timeline.map((entry) => JSON.stringify(entry))),
      );
      expect(seen).toHaveLength(whole.timeline.length);
    }));

  it("the admin API answers 404 for an event of which nothing is known, 400 for an invalid cursor", () =>
    withReceiver(dialect, async (receiver) => {
      const answer = await receiver.admin("/api/v1/events/platform/none");
      expect(answer.status).toBe(404);
      conforms(PATH, "get", answer);
      expect((await receiver.admin("/api/v1/events/platform/none?cursor=x")).status).toBe(400);
    }));
});
