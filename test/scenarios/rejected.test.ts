import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, Rejected } from "../../src/handlers/index.ts";
import { type Dialect, describeFullOnPostgres, withMigrated } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { event, type ReceiverOptions, startReceiver, type TestReceiver } from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";

type Shop = Parameters<typeof shop>[0];
type Answer = NonNullable<NonNullable<Shop>["answer"]>;

/** A platform that sends an amount as a text, or no type; the handler and the contract learn of it when they are mended. */
function order(isMended: boolean, rejects = false) {
  return defineHandler({
    source: "shop",
    type: "order",
    data: z.object({ id: z.string(), amount: isMended ? z.coerce.number() : z.number() }),
    async handle({ event, tx }) {
      if (rejects) throw new Rejected("the shop is closed");
      await tx.execute(`INSERT INTO effects (event_id) VALUES ('${event.event_id}')`);
      return { amount: event.data.amount };
    },
  });
}

const optionsOf = (isMended: boolean, settings: Shop = {}, rejects = false): ReceiverOptions => ({
  sources: { shop: shop({ ...settings, ...(isMended && { type: ["body.type", "body.kind"] }) }) },
  handlers: [order(isMended, rejects)],
  migrations: [
    {
      name: "effects",
      async up(tx) {
        await tx.execute("CREATE TABLE effects (event_id text)");
      },
    },
  ],
});

/** What comes while the cause is there, and then with it mended. */
async function withCauseMended(
  dialect: Dialect,
  before: (receiver: TestReceiver) => Promise<void>,
  after: (receiver: TestReceiver) => Promise<void>,
  { settings, rejects }: { settings?: Shop; rejects?: boolean } = {},
): Promise<void> {
  await withMigrated(dialect, async (target) => {
    for (const [isMended, use] of [
      [false, before],
      [true, after],
    ] as const) {
      const receiver = await startReceiver(target, optionsOf(isMended, settings, !isMended && rejects));
      try {
        await use(receiver);
      } finally {
        await receiver.stop();
      }
    }
  });
}

const failures = async (receiver: TestReceiver) =>
  ((await receiver.admin("/api/v1/failures")).body as { items: Record<string, unknown>[] }).items;
const replay = (receiver: TestReceiver, failure: Record<string, unknown>, query = "") =>
  receiver.admin(`/api/v1/failures/${failure.source}/${encodeURIComponent(String(failure.event_id))}/replay${query}`, {
    method: "POST",
  });
const effects = (receiver: TestReceiver) => receiver.count("effects");
const ACCEPTED = { status: 200, body: { status: "accepted" } };

describeFullOnPostgres("a rejected event on %s", (dialect) => {
  it("an event that its schema refuses is kept as rejected, shown, and runs once when the schema is mended", () =>
    withCauseMended(
      dialect,
      async (receiver) => {
        expect(await deliverToShop(receiver, { id: "e1", amount: "12" })).toEqual(ACCEPTED);
        expect(await deliverToShop(receiver, { id: "e1", amount: "12" })).toEqual(ACCEPTED);
        expect(await failures(receiver)).toMatchObject([
          { state: "rejected", event_id: "e1", code: "event_invalid", attempts: 2, next_attempt_at: null },
        ]);
        expect((await failures(receiver))[0]?.error).toContain("amount");
        const overview = (await receiver.admin("/api/v1/overview")).body as Record<string, unknown>;
        expect(overview.needs_attention).toMatchObject([{ kind: "rejected_failures", count: 1 }]);
        const { items } = (await receiver.admin("/api/v1/callbacks")).body as { items: object[] };
        expect(items[0]).toMatchObject({
          event_type: "order",
          outcome: "event_invalid",
          response_status: 200,
        });
      },
      async (receiver) => {
        const [failure = {}] = await failures(receiver);
        expect((await replay(receiver, failure, "?dry_run=true")).body).toMatchObject({ outcome: "success" });
        expect(await effects(receiver)).toBe(0);
        expect((await replay(receiver, failure)).body).toMatchObject({ outcome: "success" });
        expect(await deliverToShop(receiver, { id: "e1", amount: "12" })).toMatchObject({
          body: { status: "already_processed" },
        });
        expect([await effects(receiver), await failures(receiver)]).toEqual([1, []]);
      },
    ));

  it("an event that its handler rejected goes when a redelivery of it succeeds", () =>
    withCauseMended(
      dialect,
      async (receiver) => {
        expect(await deliverToShop(receiver, { id: "e1", amount: 12 })).toEqual(ACCEPTED);
        expect(await failures(receiver)).toMatchObject([{ state: "rejected", code: "rejected" }]);
      },
      async (receiver) => {
        expect(await deliverToShop(receiver, { id: "e1", amount: 12 })).toMatchObject({
          body: { status: "success" },
        });
        expect([await effects(receiver), await failures(receiver)]).toEqual([1, []]);
      },
      { rejects: true },
    ));

  it.each<Answer>(["after", { within: "1ms" }])("an event with the answer %j is kept as rejected too", (answer) =>
    withCauseMended(
      dialect,
      async (receiver) => {
        expect(await deliverToShop(receiver, { id: "e1", amount: "12" })).toEqual(ACCEPTED);
        await expect.poll(async () => (await failures(receiver))[0]?.state).toBe("rejected");
      },
      async (receiver) => {
        const [failure = {}] = await failures(receiver);
        expect((await replay(receiver, failure)).body).toMatchObject({ outcome: "success" });
        expect([await effects(receiver), await failures(receiver)]).toEqual([1, []]);
      },
      { settings: { answer } },
    ),
  );

  it("`invalid: refuse` responds with 400 to a rejected event, which is kept all the same", () =>
    withCauseMended(
      dialect,
      async (receiver) => {
        const refused = await deliverToShop(receiver, { id: "e1", amount: "12" });
        expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining("amount") } });
        expect(await failures(receiver)).toMatchObject([{ state: "rejected" }]);
      },
      async (receiver) => {
        expect(await deliverToShop(receiver, { id: "e1", amount: "12" })).toMatchObject({ status: 200 });
        expect(await failures(receiver)).toEqual([]);
      },
      { settings: { invalid: "refuse" } },
    ));

  it("a callback that its contract cannot read is kept without its proof, and read again by the contract of today", () =>
    withCauseMended(
      dialect,
      async (receiver) => {
        const sent = { id: "e1", type: undefined, kind: "order", amount: 3 } as never;
        for (let count = 0; count < 2; count += 1) expect(await deliverToShop(receiver, sent)).toEqual(ACCEPTED);
        const [failure = {}, ...others] = await failures(receiver);
        expect(others).toEqual([]);
        expect(failure).toMatchObject({
          state: "rejected",
          event_type: "",
          code: "event_type_missing",
          attempts: 2,
        });
        expect((await replay(receiver, failure)).body).toMatchObject({ outcome: "event_type_missing" });
        const started = await receiver.admin("/api/v1/bulk-replays", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ filter: { state: "rejected" }, per_second: 10 }),
        });
        expect(started.status).toBe(201);
      },
      async (receiver) => {
        const [failure = {}] = await failures(receiver);
        expect((await replay(receiver, failure, "?dry_run=true")).body).toMatchObject({ outcome: "success" });
        expect([await effects(receiver), (await failures(receiver)).length]).toEqual([0, 1]);
        expect((await replay(receiver, failure)).body).toMatchObject({ outcome: "success" });
        expect([await effects(receiver), await failures(receiver)]).toEqual([1, []]);
        expect(await rowsOf(receiver.target, "SELECT event_id FROM oncehook_records")).toMatchObject([
          { event_id: "e1" },
        ]);
      },
    ));

  it("one invalid event of a batch is kept, and the others run", () => {
    const batch = { at: "body.events" };
    const at = {
      batch,
      id: "item.id",
      type: "item.type",
      eventTime: { at: "item.time", unit: "seconds" },
    } as const;
    const events = [
      { id: "e1", type: "order", amount: 1 },
      { type: "order", amount: 2 },
      { id: "e3", type: "order" },
    ];
    return withCauseMended(
      dialect,
      async (receiver) => {
        expect((await deliverToShop(receiver, { id: "batch", events })).status).toBe(200);
        expect(await effects(receiver)).toBe(1);
        const kept = (await failures(receiver)).map(({ event_id, code }) => [String(event_id).slice(0, 7), code]);
        expect(kept.toSorted()).toEqual([
          ["e3", "event_invalid"],
          ["sha256:", "event_id_invalid"],
        ]);
      },
      async () => {},
      { settings: at },
    );
  });

  it("an element of a batch that holds no list of events is kept, beside others and by itself", () => {
    const batch = { at: "body.orders[].lines[]" };
    const orders = [{ lines: [{ id: "e1", type: "order", amount: 1 }] }, { items: [{ id: "e2" }] }];
    return withCauseMended(
      dialect,
      async (receiver) => {
        expect((await deliverToShop(receiver, { id: "both", orders })).status).toBe(200);
        expect(await deliverToShop(receiver, { id: "one", orders: orders.slice(1) })).toEqual(ACCEPTED);
        expect(await effects(receiver)).toBe(1);
        const codes = (await failures(receiver)).map(({ state, code }) => [state, code]);
        expect(codes).toEqual(Array(2).fill(["rejected", "event_invalid"]));
        expect((await deliverToShop(receiver, { id: "none", orders: [] })).body).toEqual({
          status: "success",
        });
        expect(await failures(receiver)).toHaveLength(2);
      },
      async () => {},
      { settings: { batch, id: "item.id", type: "item.type" } },
    );
  });

  it("the platform of the specification gets 400 for an invalid event, which is kept and replayed", () =>
    withCauseMended(
      dialect,
      async (receiver) => {
        const sent = event("payment_notify", { order_id: 1 });
        const { status, body } = await receiver.send(sent);
        expect([status, Object.keys(body as object)]).toEqual([400, ["error"]]);
        expect((await receiver.send({}, { raw: "no JSON" })).status).toBe(400);
        expect((await receiver.send(event("unheard_of", {}))).status).toBe(400);
        expect((await receiver.send(sent, { secret: "another secret of the same length" })).status).toBe(401);
        const codes = (await failures(receiver)).map(({ code }) => code);
        expect(codes.toSorted()).toEqual(["body_not_json", "event_invalid"]);
      },
      async () => {},
    ));

  it("an event that cannot be kept is answered 503, so that its platform sends it again", () =>
    withCauseMended(
      dialect,
      async (receiver) => {
        await execute(receiver.target, "ALTER TABLE oncehook_failures RENAME TO away");
        expect((await deliverToShop(receiver, { id: "e1", amount: "12" })).status).toBe(503);
        await execute(receiver.target, "ALTER TABLE away RENAME TO oncehook_failures");
        expect(await deliverToShop(receiver, { id: "e1", amount: "12" })).toEqual(ACCEPTED);
      },
      async () => {},
    ));
});
