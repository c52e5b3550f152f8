import assert from "node:assert/strict";
import { test } from "node:test";
import { signedCallback } from "oncehook/testing";
import { POST } from "../app/api/[source]/callback/route.ts";
import config from "../oncehook.config.ts";
import { testReceiver } from "./test-receiver.ts";

test("a paid invoice is written down once, however often Stripe sends it", async () => {
  await using webhooks = testReceiver();
  globalThis.webhooks = Promise.resolve(webhooks.receiver);
  const data = { data: { object: { id: "in_1", amount_paid: 490 } } };
  const callback = signedCallback(config, { source: "stripe", type: "invoice.paid", data });
  const send = async () => (await POST(new Request(`https://shop.example.com${callback.path}`, callback))).json();
  assert.deepEqual(await send(), { status: "success", data: { invoice: "in_1" } });
  assert.deepEqual(await send(), { status: "already_processed" });
  assert.deepEqual(webhooks.rows("SELECT id, cents FROM paid_invoices"), [{ id: "in_1", cents: 490 }]);
});
