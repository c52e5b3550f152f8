import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { stripe } from "../../../src/sources/platforms/index.ts";
import { requestOf } from "../../support/contract.ts";
import { openPreset, PRESET_NOW, verifiedEvents } from "../../support/preset.ts";

const SECRET = "whsec_of_this_test";
const NOW = PRESET_NOW.getTime() / 1_000;

async function idOf(id: string, time: number): Promise<string | undefined> {
  const body = JSON.stringify({ id, type: "invoice.paid", created: 1_326_853_478 });
  const signature = createHmac("sha256", SECRET).update(`${time}.${body}`).digest("hex");
  const headers = { "Stripe-Signature": `t=${time},v1=${signature}` };
  return (await verifiedEvents(stripe({ secret: SECRET }), requestOf(body, { headers })))[0]?.eventId;
}

it("the test events of Stripe's dashboard, which share an id, are events of their own by their signed times", async () => {
  for (const id of ["evt_00000000000000", "charge.expired_00000000000000"]) {
    expect(await idOf(id, NOW)).toBe(`${id}.${NOW}`);
    expect(await idOf(id, NOW - 9)).toBe(`${id}.${NOW - 9}`);
  }
  expect(await idOf("evt_1", NOW)).toBe("evt_1");
  expect(openPreset(stripe({ secret: SECRET })).contract.identity).toBe("signed-id");
});
