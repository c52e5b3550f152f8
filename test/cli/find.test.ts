import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { token } from "../../src/sources/platforms/index.ts";
import { runCommandLine } from "../support/command.ts";
import { event, payment, type TestReceiver, TOKEN, withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

const SHOP_TOKEN = "a token of this test";
const SOURCES = { shop: token({ secret: SHOP_TOKEN, header: "X-Token", id: "body.id", type: "body.type" }) };

const paired = ["first", "second"].map((name) =>
  defineHandler({ type: "paired", name, data: z.looseObject({}), handle: () => ({}) }),
);

function withOrders(use: (run: (...args: string[]) => ReturnType<typeof runCommandLine>) => Promise<void>) {
  return withReceiver(
    "sqlite",
    async (receiver) => {
      await receiver.send(payment({ event_id: "evt_long" }, { order_id: "order-1235", note: "a gift for Ada" }));
      await receiver.send(payment({ event_id: "evt_short" }, { order_id: "order-123" }));
      await receiver.send(payment({ event_id: "evt_forged" }), { secret: "z".repeat(32) });
      await sendToShop(receiver, "evt_shop");
      expect((await receiver.send(event("paired", {}, { event_id: "evt_pair" }))).status).toBe(200);
      const env = { ...CHILD_ENVIRONMENT, ADMIN_TOKEN: TOKEN, ADMIN_PORT: new URL(receiver.adminOrigin).port };
      await use((...args) => runCommandLine(args, env));
    },
    { sources: SOURCES, handlers: paired },
  );
}

async function sendToShop({ publicOrigin }: TestReceiver, id: string): Promise<void> {
  const headers = { "X-Token": SHOP_TOKEN };
  await fetch(`${publicOrigin}/api/shop/callback`, { method: "POST", headers, body: `{"id":"${id}","type":"made"}` });
}

describe("oncehook find", () => {
  it("find prints exact matches before those that begin so, with date, source and match, and returns 0", () =>
    withOrders(async (run) => {
      const found = await run("find", "order-123");
      expect(found.code).toBe(0);
      const [head, , first, second] = found.stdout.split("\n");
      expect(head).toMatch(/^time +source +type +outcome +event +match/);
      expect(first).toMatch(
        /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}platform {2}payment_notify {2}success {2}evt_short {2,}exact: data\.order_id = order-123$/,
      );
      expect(second).toMatch(/evt_long +prefix: data\.order_id = order-1235$/);
    }));

  it("find takes filters and texts, marks what is only claimed, and returns 1 where nothing is found", () =>
    withOrders(async (run) => {
      const forged = /payment_notify \(unverified\) +signature_mismatch +evt_forged \(unverified\)/;
      expect((await run("find", "outcome:refused", "type:payment_*")).stdout).toMatch(forged);
      expect((await run("find", "evt_forged")).stdout).toMatch(forged);
      expect((await run("find", "gift for")).stdout).toContain("text: data.note = a gift for Ada");
      const json = await run("find", "source:platform", "order-123", "--json", "--limit", "1");
      expect(JSON.parse(json.stdout)).toMatchObject([{ event_id: "evt_short", matched: { kind: "exact" } }]);
      const none = await run("find", "nowhere");
      expect([none.code, none.stdout]).toEqual([1, "no callback matches nowhere\n"]);
      const wrong = await run("find", "soruce:shop");
      expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("did you mean source:?")]);
    }));
});

describe("the callback of several handlers", () => {
  it("the callback of several handlers has its id and its type, and is not called unverified", () =>
    withOrders(async (run) => {
      const found = await run("find", "evt_pair");
      expect(found.stdout).not.toContain("unverified");
      expect(found.stdout.match(/paired +success +evt_pair/g)).toHaveLength(3);
    }));
});

describe("oncehook show", () => {
  it("show finds the source of an event, and prints the result in a sentence, the timeline and the payload", () =>
    withOrders(async (run) => {
      const shown = await run("show", "evt_short");
      expect(shown.code).toBe(0);
      expect(shown.stdout).toMatch(
        /^evt_short of platform \(payment_notify\) was handled at .+, after 1 attempt\.\n\ntime /,
      );
      expect(shown.stdout).toContain('"order_id": "order-123"');
      const [row] = JSON.parse((await run("find", "id:evt_short", "--json")).stdout);
      const byRequest = await run("show", row.request_id);
      expect(byRequest.stdout).toBe(shown.stdout);
      expect((await run("show", String(row.id))).stdout).toBe(shown.stdout);
    }));

  it("show explains a refused callback by the id that it claims, and an event that was not handled", () =>
    withOrders(async (run) => {
      expect((await run("show", "evt_forged")).stdout).toMatch(
        /^Callback \d+ of platform was answered 401, signature_mismatch, at .+It claims to be evt_forged, unverified\./,
      );
      for (const command of ["show", "event"]) {
        const ignored = await run(command, "evt_shop");
        expect([ignored.code, ignored.stdout]).toEqual([0, expect.stringContaining("shop")]);
      }
      const none = await run("show", "evt_nowhere");
      expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("`oncehook find evt_nowhere`")]);
    }));
});
