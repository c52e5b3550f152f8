import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, type Handler, Rejected } from "../../src/handlers/index.ts";
import type { SourceSettings } from "../../src/sources/source-definition.ts";
import { runChild } from "../support/child.ts";
import { describeFullOnPostgres, withMigrated } from "../support/databases.ts";
import { type ReceiverOptions, startReceiver, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

type Answer = NonNullable<SourceSettings["answer"]>;

const deliver = (receiver: TestReceiver, id: string) => deliverToShop(receiver, { id });

/** A handler whose outside work waits until it is opened: a slow API, in `prepare`, as it should be. */
function slowHandler(fails: () => Error | undefined = () => undefined) {
  const gate = Promise.withResolvers<void>();
  const runs = { started: 0, done: 0 };
  const handler = defineHandler({
    source: "shop",
    type: "order",
    data: z.object({ id: z.string() }),
    async prepare() {
      runs.started += 1;
      await gate.promise;
      return null;
    },
    async handle({ event, attempt }) {
      const error = fails();
      if (error !== undefined) throw error;
      runs.done += 1;
      return { id: event.data.id, attempt };
    },
  });
  return { handler, runs, open: gate.resolve };
}

const options = (answer: Answer, handler: Handler, over: ReceiverOptions = {}): ReceiverOptions => ({
  sources: { shop: shop({ answer }) },
  handlers: [handler],
  ...over,
});
const completed = (receiver: TestReceiver) => receiver.count("oncehook_records", "status = 'completed'");
const kept = (receiver: TestReceiver, state: string) => receiver.count("oncehook_failures", `state = '${state}'`);

describeFullOnPostgres("answer modes on %s", (dialect) => {
  it("`after` responds before the handler has run, and the handler runs once", () => {
    const slow = slowHandler();
    return withReceiver(
      dialect,
      async (receiver) => {
        const id = randomUUID();
        expect(await deliver(receiver, id)).toEqual({ status: 200, body: { status: "accepted" } });
        await until(() => slow.runs.started === 1);
        expect([await kept(receiver, "accepted"), await completed(receiver)]).toEqual([1, 0]);
        expect(await deliver(receiver, id)).toEqual({ status: 200, body: { status: "accepted" } });
        slow.open();
        await until(async () => (await completed(receiver)) === 1);
        await until(async () => (await receiver.count("oncehook_failures")) === 0);
        expect(await deliver(receiver, id)).toEqual({ status: 200, body: { status: "already_processed" } });
        expect(slow.runs).toEqual({ started: 1, done: 1 });
        const { timeline } = (await receiver.admin(`/api/v1/events/shop/${id}`)).body as {
          timeline: { kind: string; by?: string; outcome?: string }[];
        };
        expect(timeline).toContainEqual(
          expect.objectContaining({ kind: "attempt", by: "accepted", outcome: "success" }),
        );
      },
      options("after", slow.handler, { retryPollMs: 50 }),
    );
  });

  it("`within` responds when its time is over, and the commit of the handler removes the accepted event", () => {
    const slow = slowHandler();
    return withReceiver(
      dialect,
      async (receiver) => {
        const id = randomUUID();
        const begun = performance.now();
        expect(await deliver(receiver, id)).toEqual({ status: 200, body: { status: "accepted" } });
        expect(performance.now() - begun).toBeGreaterThan(290);
        expect(await kept(receiver, "accepted")).toBe(1);
        // A delivery meanwhile waits no longer than the platform does, and starts nothing.
        expect(await deliver(receiver, id)).toEqual({ status: 200, body: { status: "accepted" } });
        slow.open();
        await until(async () => (await completed(receiver)) === 1);
        await until(async () => (await receiver.count("oncehook_failures")) === 0);
        expect(slow.runs).toEqual({ started: 1, done: 1 });
        expect(await deliver(receiver, id)).toEqual({ status: 200, body: { status: "already_processed" } });
      },
      options({ within: "300ms" }, slow.handler),
    );
  });

  it("`within` responds with the handler's outcome where it is fast enough", () => {
    const quick = slowHandler();
    quick.open();
    return withReceiver(
      dialect,
      async (receiver) => {
        expect(await deliver(receiver, "e1")).toMatchObject({ status: 200, body: { status: "success" } });
        expect(await receiver.count("oncehook_failures")).toBe(0);
      },
      options({ within: "5s" }, quick.handler),
    );
  });

  it("an accepted event whose handler fails waits for its retry, and one that is rejected waits for none", () => {
    let error: Error = new Error("the shop is closed");
    const slow = slowHandler(() => error);
    return withReceiver(
      dialect,
      async (receiver) => {
        expect(await deliver(receiver, "failing")).toMatchObject({ body: { status: "accepted" } });
        slow.open();
        await until(async () => (await kept(receiver, "waiting")) === 1);
        error = new Rejected("no such order");
        expect(await deliver(receiver, "rejected")).toMatchObject({ status: 200 });
        const { items } = (await receiver.admin("/api/v1/failures")).body as { items: object[] };
        expect(items).toMatchObject([
          { event_id: "rejected", state: "rejected", code: "rejected", attempts: 1, next_attempt_at: null },
          { event_id: "failing", state: "waiting", code: "handler_failed", attempts: 1, retries_done: 0 },
        ]);
      },
      options({ within: "200ms" }, slow.handler),
    );
  });

  it("an accepted event that its handler rejects later is kept as rejected", () => {
    const slow = slowHandler(() => new Rejected("no such order"));
    return withReceiver(
      dialect,
      async (receiver) => {
        expect(await deliver(receiver, "e1")).toMatchObject({ body: { status: "accepted" } });
        slow.open();
        await until(async () => (await kept(receiver, "rejected")) === 1);
        const { items } = (await receiver.admin("/api/v1/failures")).body as { items: object[] };
        expect(items).toMatchObject([{ event_id: "e1", code: "rejected", error: "no such order" }]);
      },
      options({ within: "200ms" }, slow.handler),
    );
  });

  it.each<Answer>(["after", { within: "200ms" }])(
    "an accepted callback (%j) has its type in log and log line, and counts as failed where its handler fails",
    (answer) => {
      const slow = slowHandler(() => new Error("the shop is closed"));
      return withReceiver(
        dialect,
        async (receiver) => {
          expect(await deliver(receiver, "e1")).toMatchObject({ body: { status: "accepted" } });
          slow.open();
          await until(async () => (await kept(receiver, "waiting")) === 1);
          const [line] = receiver.lines.filter(({ msg }) => msg === "callback");
          expect(line).toMatchObject({ event_id: "e1", event_type: "order", outcome: "accepted" });
          const overview = (await receiver.admin("/api/v1/overview")).body as { totals: object };
          expect(overview.totals).toMatchObject({ outcomes: { accepted: 1, accepted_failed: 1 } });
          const rows = async (filter: string) =>
            ((await receiver.admin(`/api/v1/callbacks?event_type=order&outcome=${filter}`)).body as { items: object[] })
              .items;
          const failed = { event_id: "e1", event_type: "order", outcome: "accepted_failed", response_status: 200 };
          expect(await rows("failed")).toMatchObject([failed]);
          expect(await rows("handled")).toEqual([]);
          const sources = (await receiver.admin("/api/v1/sources")).body as {
            items: { source: string; activity: object }[];
          };
          const found = sources.items.find(({ source }) => source === "shop");
          expect(found?.activity).toMatchObject({ outcomes: { accepted_failed: 1 } });
        },
        options(answer, slow.handler),
      );
    },
  );

  it("`after` refuses a type without a handler where its source does, and accepts nothing", () => {
    const { handler } = slowHandler();
    const sources = { shop: shop({ answer: "after", unhandled: "refuse" }) };
    return withReceiver(
      dialect,
      async (receiver) => {
        const found = await deliverToShop(receiver, { id: "e1", type: "unknown" });
        expect(found).toMatchObject({ status: 400, body: { error: expect.any(String) } });
        expect(await kept(receiver, "accepted")).toBe(0);
      },
      { sources, handlers: [handler] },
    );
  });

  it("an overload costs a source with `within` no event: it is accepted where others get 503", () => {
    const slow = slowHandler();
    return withReceiver(
      dialect,
      async (receiver) => {
        const ids = Array.from({ length: 24 }, (_, index) => `e${index}`);
        const responses = await Promise.all(ids.map((id) => deliver(receiver, id)));
        expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
        slow.open();
        await until(async () => (await completed(receiver)) === ids.length);
        expect(slow.runs.done).toBe(ids.length);
      },
      options({ within: "200ms" }, slow.handler, { env: { MAX_WAITING_CALLBACKS: "8" }, retryPollMs: 50 }),
    );
  });
});

it(
  "a `within` event of a killed process runs at once when a receiver starts on its SQLite file",
  { tags: "full" },
  () =>
    withMigrated("sqlite", async (target) => {
      const killed = await runChild("test/support/within-child.ts", [target.url]);
      expect(killed).toMatchObject({ signal: "SIGKILL", stdout: "accepted" });
      const { handler, runs, open } = slowHandler();
      open();
      const receiver = await startReceiver(target, options("after", handler, { retryPollMs: 50 }));
      // Far sooner than its lease ends.
      await until(async () => (await completed(receiver)) === 1, 20_000);
      expect([runs, await receiver.count("oncehook_failures")]).toEqual([{ started: 0, done: 1 }, 0]);
      await receiver.stop();
    }),
);
