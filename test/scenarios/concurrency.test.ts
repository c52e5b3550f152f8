import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { DIALECTS } from "../support/databases.ts";
import { withReceiver } from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

/** A handler whose runs wait in `prepare` until they are let go. */
function gated(concurrency: number) {
  const gate = Promise.withResolvers<void>();
  const seen = { now: 0, most: 0 };
  const handler = defineHandler({
    source: "shop",
    type: "order",
    concurrency,
    data: z.looseObject({}),
    async prepare() {
      seen.now += 1;
      seen.most = Math.max(seen.most, seen.now);
      await gate.promise;
      await sleep(5);
      seen.now -= 1;
      return null;
    },
    handle: () => ({}),
  });
  return { handler, seen, open: gate.resolve };
}

const IDS = Array.from({ length: 9 }, (_, index) => `e${index}`);

describe.each(DIALECTS)("the concurrency of a handler on %s", (dialect) => {
  it("no more of its runs than that are at work at a time, and all of them end", () => {
    const { handler, seen, open } = gated(3);
    return withReceiver(
      dialect,
      async (receiver) => {
        const responses = Promise.all(IDS.map((id) => deliverToShop(receiver, { id })));
        await until(() => seen.now === 3);
        open();
        expect(new Set((await responses).map(({ status }) => status))).toEqual(new Set([200]));
        expect(seen).toEqual({ now: 0, most: 3 });
      },
      { sources: { shop: shop() }, handlers: [handler] },
    );
  });

  it("a callback that waits until its deadline gets 503, is not a failure, and can come again", {
    tags: "full",
  }, () => {
    const { handler, seen, open } = gated(1);
    return withReceiver(
      dialect,
      async (receiver) => {
        const deliver = async (id: string) => ({ id, ...(await deliverToShop(receiver, { id })) });
        const first = deliver("e1");
        await until(() => seen.now === 1);
        // Each run takes the handler's time limit. Of the two that wait, the later one reaches its deadline in the line.
        const waiting = ["e2", "e3"].map(deliver);
        const { id, status } = await Promise.race(waiting);
        expect(status).toBe(503);
        expect(await receiver.count("oncehook_failures", `event_id = '${id}'`)).toBe(0);
        open();
        await Promise.all([first, ...waiting]);
        expect(await deliver(id)).toMatchObject({ status: 200 });
        const listed = (await receiver.admin("/api/v1/callbacks?outcome=handler_busy")).body;
        expect(listed).toMatchObject({ items: [{ event_id: id }] });
      },
      {
        sources: { shop: shop() },
        handlers: [handler],
        env: { REQUEST_TIMEOUT_MS: "1500", HANDLER_TIMEOUT_MS: "1450" },
      },
    );
  });

  it("an event of a source with `within` that waits for its turn is accepted", () => {
    const { handler, seen, open } = gated(1);
    return withReceiver(
      dialect,
      async (receiver) => {
        const responses = await Promise.all(["e1", "e2"].map((id) => deliverToShop(receiver, { id })));
        expect(responses.map(({ body }) => body.status)).toEqual(["accepted", "accepted"]);
        open();
        await until(async () => (await receiver.count("oncehook_records")) === 2);
        expect(seen.most).toBe(1);
      },
      { sources: { shop: shop({ answer: { within: "200ms" } }) }, handlers: [handler] },
    );
  });
});
