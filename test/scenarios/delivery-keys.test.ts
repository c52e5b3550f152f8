import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { microsoftGraph } from "../../src/sources/platforms/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { type ReceiverOptions, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

type Settings = Parameters<typeof shop>[0];

/** A handler that fails so many events when they come. A group that is undone runs a handler again. */
function failing(times: number, name?: string) {
  const failed = new Set<string>();
  return defineHandler({
    source: "shop",
    ...(name !== undefined && { name }),
    type: "*",
    data: z.looseObject({}),
    async handle({ event, attempt, notify }) {
      await notify("ran", {});
      const isOver = failed.size === times && !failed.has(event.event_id);
      if (attempt !== "inline" || event.data.note === "well" || isOver) return {};
      failed.add(event.event_id);
      throw new Error("the ledger of the shop is closed");
    },
  });
}

const options = (handlers: ReceiverOptions["handlers"], settings: Settings = {}): ReceiverOptions => ({
  sources: {
    shop: shop({ id: "header.X-Event-Id", identity: "delivery", retry: { first: "50ms" }, ...settings }),
  },
  handlers: handlers ?? [],
  retryPollMs: 20,
});

/** The platform's rule: it sends the event again unless the response is a success. */
async function deliverAsPlatform(receiver: TestReceiver): Promise<(string | number | undefined)[]> {
  const said: (string | number | undefined)[] = [];
  for (let attempt = 1; attempt < 4; attempt += 1) {
    const { status, body } = await deliverToShop(receiver, { id: `attempt-${attempt}` });
    said.push(status, body.status);
    if (status < 300) break;
  }
  return said;
}

const effects = async ({ target }: TestReceiver) =>
  (await rowsOf(target, "SELECT source FROM oncehook_notifications ORDER BY source")).map(({ source }) => source);
const isSettled = async (receiver: TestReceiver) => (await receiver.count("oncehook_failures")) === 0;

describeFullOnPostgres("a key that is of one delivery, on %s", (dialect) => {
  it.each(["inline", { within: "5s" }] as const)(
    "an event whose handler failed is answered as accepted and retried here only, with the answer %j",
    (answer) =>
      withReceiver(
        dialect,
        async (receiver) => {
          expect(await deliverAsPlatform(receiver)).toEqual([200, "accepted"]);
          const { items } = (await receiver.admin("/api/v1/callbacks")).body as { items: object[] };
          expect(items).toMatchObject([{ outcome: "handler_failed", response_status: 200 }]);
          await until(() => isSettled(receiver));
          expect(await effects(receiver)).toEqual(["shop"]);
        },
        options([failing(1)], { answer }),
      ),
  );

  it("an event whose id its preset takes from the delivery is answered as accepted too", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        expect(await deliverAsPlatform(receiver)).toEqual([200, "accepted"]);
        await until(() => isSettled(receiver));
        expect(await effects(receiver)).toEqual(["shop"]);
      },
      options([failing(1)], { identity: "id", id: (from) => from.delivery() }),
    ));

  it("an event of which one named handler failed runs once for each of its handlers", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        expect(await deliverAsPlatform(receiver)).toEqual([200, "accepted"]);
        await until(() => isSettled(receiver));
        expect(await effects(receiver)).toEqual(["shop", "shop#audit"]);
      },
      options([failing(0), failing(1, "audit")]),
    ));

  it("an event whose failure cannot be stored is answered with 500, and so is one that is not retried here", async () => {
    await withReceiver(
      dialect,
      async (receiver) => {
        await execute(receiver.target, "ALTER TABLE oncehook_failures RENAME TO away");
        expect((await deliverToShop(receiver, { id: "e1" })).status).toBe(500);
        await execute(receiver.target, "ALTER TABLE away RENAME TO oncehook_failures");
        expect((await deliverToShop(receiver, { id: "e1" })).status).toBe(200);
      },
      options([failing(1)]),
    );
    await withReceiver(
      dialect,
      async (receiver) => {
        expect((await deliverToShop(receiver, { id: "e1" })).status).toBe(500);
        expect((await deliverToShop(receiver, { id: "e1" })).status).toBe(200);
      },
      options([failing(1)], { retry: { for: "0s" } }),
    );
  });

  it("an event that has an id of its platform is answered with 500, and runs once by whichever retry is first", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        expect((await deliverToShop(receiver, { id: "e1" })).status).toBe(500);
        await until(() => isSettled(receiver));
        expect(await deliverToShop(receiver, { id: "e1" })).toMatchObject({
          body: { status: "already_processed" },
        });
        expect(await effects(receiver)).toEqual(["shop"]);
      },
      options([failing(1)], { identity: "id" }),
    ));

  it("a batch with hints is answered as accepted where one of its events failed, so that no hint is sent again", () => {
    const secret = "the client state of the subscription";
    const item = { subscriptionId: "s1", clientState: secret, changeType: "updated" };
    const value = [
      { ...item, note: "well" },
      { ...item, note: "of an id", id: "i1" },
    ];
    return withReceiver(
      dialect,
      async (receiver) => {
        const url = `${receiver.publicOrigin}/api/shop/callback`;
        const response = await fetch(url, { method: "POST", body: JSON.stringify({ value }) });
        expect(response.status).toBe(202);
        await until(() => isSettled(receiver));
        expect(await effects(receiver)).toEqual(["shop", "shop"]);
      },
      {
        ...options([failing(1)]),
        sources: { shop: microsoftGraph({ secret, retry: { first: "50ms" } }) },
      },
    );
  });
});
