import { expect, it } from "vitest";
import { z } from "zod";
import type { EventHistoryView, ReplayView } from "../../src/admin-client/index.ts";
import { defineHandler, type Handler } from "../../src/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { countOf, EFFECTS } from "../support/effects.ts";
import { conforms } from "../support/openapi.ts";
import {
  type CallbackResponse,
  payment,
  type ReceiverOptions,
  type TestReceiver,
  withReceiver,
} from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { deliverToTenant, tenantShop } from "../support/tenant-shop.ts";

const plan = { tax: 1, isBroken: false, prepared: 0, ran: [] as string[] };

const orders = (over: Partial<Parameters<typeof defineHandler>[0]> = {}, source = "shop"): Handler =>
  defineHandler({
    source,
    type: "order",
    data: z.looseObject({ amount: z.number().optional() }),
    async handle({ event, tx, notify, attempt }) {
      plan.ran.push(`${event.event_id} ${attempt}`);
      await tx.query.insertInto("effects").values({ event_id: event.event_id }).execute();
      await notify("order.taxed", { tax: plan.tax });
      if (plan.isBroken) throw new Error("still broken");
      const { amount = null } = event.data as { amount?: number };
      return { tax: plan.tax, amount };
    },
    ...over,
  } as Parameters<typeof defineHandler>[0]);

const withShop = (over: Partial<ReceiverOptions> = {}, settings: Parameters<typeof shop>[0] = {}): ReceiverOptions => ({
  sources: { shop: shop(settings) },
  handlers: [orders()],
  migrations: [EFFECTS],
  ...over,
});

const VIEWER = "viewer-token-of-the-test";
const PATH = "/api/v1/events/{source}/{event_id}/replay";
const REASON = { reason: "the tax was wrong" };

async function ask(receiver: TestReceiver, key: string, query: string, body?: object): Promise<CallbackResponse> {
  const headers = { "content-type": "application/json" };
  const answer = await receiver.admin(`/api/v1/events/${key}/replay${query}`, {
    method: "POST",
    ...(body !== undefined && { headers, body: JSON.stringify(body) }),
  });
  conforms(PATH, "post", answer);
  return answer;
}

const replay = (receiver: TestReceiver, key: string, body: object = REASON) => ask(receiver, key, "", body);
const dryRun = (receiver: TestReceiver, key: string) => ask(receiver, key, "?dry_run=true");
const viewOf = ({ body }: CallbackResponse) => body as unknown as ReplayView;

async function historyOf(receiver: TestReceiver, key: string): Promise<EventHistoryView> {
  const answer = await receiver.admin(`/api/v1/events/${key}`);
  conforms("/api/v1/events/{source}/{event_id}", "get", answer);
  return answer.body as unknown as EventHistoryView;
}

function begin(): void {
  Object.assign(plan, { tax: 1, isBroken: false, prepared: 0, ran: [] });
}

describeFullOnPostgres("the replay of a handled event on %s", (dialect) => {
  it("the replay runs the handler over the original, and the earlier result is kept beside the new one", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        begin();
        await deliverToShop(receiver, { id: "e1", amount: 10 });
        plan.tax = 2;
        const answer = await replay(receiver, "shop/e1");
        expect(answer.status).toBe(200);
        expect(viewOf(answer)).toMatchObject({
          outcome: "success",
          dry_run: false,
          result: { tax: 2, amount: 10 },
          earlier: { result: { tax: 1, amount: 10 } },
        });
        expect(plan.ran).toEqual(["e1 inline", "e1 replay"]);
        const history = await historyOf(receiver, "shop/e1");
        expect(history).toMatchObject({
          event: { result: { tax: 2, amount: 10 } },
          failure: null,
          replays: [{ actor: "token", ...REASON, earlier_result: { tax: 1, amount: 10 } }],
          notifications: [{ payload: { tax: 1 } }, { payload: { tax: 2 } }],
        });
        expect(history.timeline).toContainEqual(expect.objectContaining({ kind: "attempt", by: "replay" }));
        expect(await deliverToShop(receiver, { id: "e1", amount: 10 })).toMatchObject({
          body: { status: "already_processed" },
        });
        expect(await countOf(receiver.target, "effects")).toBe(2);
      },
      withShop(),
    ));

  it("replays of one event at once have the results that they replaced, each another one", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        begin();
        await deliverToShop(receiver, { id: "e1" });
        const answers = await Promise.all([1, 2, 3].map(() => replay(receiver, "shop/e1")));
        const results = answers.map((answer) => viewOf(answer)).map(({ result }) => Number(result?.n));
        const earlier = answers.map((answer) => Number(viewOf(answer).earlier?.result?.n));
        expect(earlier.toSorted()).toEqual([1, ...results.toSorted().slice(0, 2)]);
      },
      withShop({ handlers: [orders({ handle: () => ({ n: plan.ran.push("e1") }) })] }),
    ));

  it("its dry run needs no reason, shows statements, rows and notifications, and changes nothing", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        begin();
        await deliverToShop(receiver, { id: "e1" });
        plan.tax = 2;
        const answer = await dryRun(receiver, "shop/e1");
        expect(answer.status).toBe(200);
        const view = viewOf(answer);
        expect(view).toMatchObject({
          outcome: "success",
          dry_run: true,
          result: { tax: 2 },
          earlier: { result: { tax: 1 } },
        });
        expect(view.statements).toMatchObject([{ sql: expect.stringContaining("effects"), rows: 1 }]);
        expect(view.notifications).toEqual([{ topic: "order.taxed", payload: { tax: 2 } }]);
        expect(await historyOf(receiver, "shop/e1")).toMatchObject({ event: { result: { tax: 1 } }, replays: [] });
        expect(await countOf(receiver.target, "effects")).toBe(1);
        expect(await countOf(receiver.target, "oncehook_notifications")).toBe(1);
        expect(await countOf(receiver.target, "oncehook_attempts")).toBe(0);
      },
      withShop(),
    ));

  it("a reason with a NUL is refused, and the answer says what is expected", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const { status, body } = await replay(receiver, "shop/e1", { reason: "the\u0000tax" });
        expect([status, body.error]).toEqual([400, "reason: expected a text without NUL characters"]);
      },
      withShop(),
    ));

  it("a replay without a reason is refused, one by a viewer too, and the audit log has who and why", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        begin();
        await deliverToShop(receiver, { id: "e1" });
        const missing = await replay(receiver, "shop/e1", {});
        expect([missing.status, missing.body.error]).toEqual([400, expect.stringContaining("reason: missing")]);
        expect((await ask(receiver, "shop/e1", "")).status).toBe(400);
        const viewer = { headers: { authorization: `Bearer ${VIEWER}` }, method: "POST" };
        expect((await receiver.admin("/api/v1/events/shop/e1/replay?dry_run=true", viewer)).status).toBe(403);
        expect((await receiver.admin("/api/v1/events/shop/e1/replay", viewer)).status).toBe(403);
        await dryRun(receiver, "shop/e1");
        await replay(receiver, "shop/e1");
        const { items } = (await receiver.admin("/api/v1/audit")).body as {
          items: { action: string; outcome: string }[];
        };
        // Refused ones are written without waiting, so that their place among the others is open.
        const done = items.filter(({ action, outcome }) => action.startsWith("event.") && outcome === "done");
        expect(done).toMatchObject([
          { action: "event.replay", target: "shop/e1", actor: "token", detail: REASON },
          { action: "event.dry_run", target: "shop/e1" },
        ]);
        expect(plan.ran).toEqual(["e1 inline", "e1 replay", "e1 replay"]);
      },
      withShop({ env: { ADMIN_VIEWER_TOKEN: VIEWER } }),
    ));

  it("a replay that fails says why, changes nothing, and leaves no failure", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        begin();
        await deliverToShop(receiver, { id: "e1" });
        plan.isBroken = true;
        expect(viewOf(await replay(receiver, "shop/e1"))).toMatchObject({
          outcome: "handler_failed",
          error: expect.stringContaining("still broken"),
          earlier: { result: { tax: 1 } },
        });
        const history = await historyOf(receiver, "shop/e1");
        expect(history).toMatchObject({ event: { result: { tax: 1 } }, failure: null, replays: [] });
        expect(history.timeline).toContainEqual(
          expect.objectContaining({ kind: "attempt", by: "replay", outcome: "handler_failed" }),
        );
        expect(await countOf(receiver.target, "effects")).toBe(1);
      },
      withShop(),
    ));

  it("an event that was never handled is not found, and one without an original says so", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        begin();
        expect((await replay(receiver, "shop/none")).status).toBe(404);
        await deliverToShop(receiver, { id: "e1" });
        for (const answer of [await replay(receiver, "shop/e1"), await dryRun(receiver, "shop/e1")])
          expect([answer.status, answer.body.error]).toEqual([409, expect.stringContaining("no original")]);
      },
      withShop({}, { keep: "0" }),
    ));

  it("an event whose payload was erased cannot be run again", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        begin();
        await deliverToShop(receiver, { id: "e1", customer: "cus_of_the_erased" });
        const erased = await receiver.admin("/api/v1/erasures", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ path: "customer", value: "cus_of_the_erased" }),
        });
        expect(erased.status).toBe(200);
        const answer = await replay(receiver, "shop/e1");
        expect([answer.status, answer.body.error]).toEqual([409, expect.stringContaining("erased")]);
      },
      withShop(),
    ));

  it("a replay runs only the named one of several handlers of one type", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        begin();
        await deliverToShop(receiver, { id: "e1" });
        plan.tax = 2;
        expect((await replay(receiver, "shop%23audit/e1")).status).toBe(200);
        expect((await historyOf(receiver, "shop%23audit/e1")).event).toMatchObject({ result: { tax: 2 } });
        expect((await historyOf(receiver, "shop/e1")).event).toMatchObject({ result: { tax: 1 } });
        expect(plan.ran).toHaveLength(3);
      },
      withShop({ handlers: [orders(), orders({ name: "audit" })] }),
    ));

  it("an event of a tenant's batch is run again by itself", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        begin();
        expect(
          await deliverToTenant(receiver, "acme", [
            { id: "e1", amount: 1 },
            { id: "e2", amount: 2 },
          ]),
        ).toBe(200);
        plan.tax = 2;
        const answer = await replay(receiver, "shops%2Facme/e2");
        expect(viewOf(answer)).toMatchObject({ outcome: "success", result: { tax: 2, amount: 2 } });
        expect((await historyOf(receiver, "shops%2Facme/e1")).event).toMatchObject({ result: { tax: 1 } });
      },
      { ...withShop({ handlers: [orders({}, "shops")] }), sources: { shops: tenantShop({}) } },
    ));

  it("an event without an id of its platform keeps its key, although only its bytes made that", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        begin();
        await deliverToShop(receiver, { id: "of the platform", amount: 3 });
        const { items } = (await receiver.admin("/api/v1/events?source=shop")).body as {
          items: { event_id: string }[];
        };
        const id = items[0]?.event_id ?? "";
        expect(viewOf(await replay(receiver, `shop/${encodeURIComponent(id)}`))).toMatchObject({
          outcome: "success",
          result: { amount: 3 },
        });
        expect(plan.ran).toEqual([`${id} inline`, `${id} replay`]);
        expect(await receiver.count("oncehook_records")).toBe(1);
      },
      withShop({}, { identity: "delivery", id: "header.x-event-id" }),
    ));

  it("an older event of its order runs again, and one whose handler drops stale events does not", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        begin();
        await deliverToShop(receiver, { id: "old", account: "a", time: 100 });
        await deliverToShop(receiver, { id: "new", account: "a", time: 200 });
        expect(viewOf(await replay(receiver, "shop/old"))).toMatchObject({ outcome: "success" });
        const stale = await replay(receiver, "shop%23latest/old");
        expect([stale.status, stale.body.error]).toEqual([409, expect.stringContaining("a newer event")]);
        expect((await historyOf(receiver, "shop%23latest/old")).event).toMatchObject({ result: { tax: 1 } });
        expect(viewOf(await replay(receiver, "shop%23latest/new"))).toMatchObject({ outcome: "success" });
      },
      withShop({
        handlers: [
          orders({ orderBy: "data.account" }),
          orders({ name: "latest", orderBy: "data.account", dropStale: true }),
        ],
      }),
    ));

  it("the prepare step of a replay runs again, once, and a dry run does none", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        begin();
        await deliverToShop(receiver, { id: "e1" });
        expect(viewOf(await dryRun(receiver, "shop/e1"))).toMatchObject({
          outcome: "rejected",
          error: expect.stringContaining("outside work"),
        });
        expect(plan.prepared).toBe(1);
        expect(viewOf(await replay(receiver, "shop/e1"))).toMatchObject({ outcome: "success" });
        expect(plan.prepared).toBe(2);
        expect(await receiver.count("oncehook_preparations")).toBe(0);
      },
      withShop({
        handlers: [
          orders({
            async prepare() {
              plan.prepared += 1;
              return { rate: 1 };
            },
          }),
        ],
      }),
    ));

  it("an event of the built-in protocol is run again by the version of its callback", () =>
    withReceiver(dialect, async (receiver) => {
      const sent = payment({ event_id: "p1" });
      expect((await receiver.send(sent, { path: "/api/v2/platform/callback" })).status).toBe(200);
      expect(viewOf(await replay(receiver, "platform/p1"))).toMatchObject({ outcome: "success" });
      expect((await historyOf(receiver, "platform/p1")).event).toMatchObject({ version: "v2" });
    }));
});
