import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { serve } from "@hono/node-server";
import { signedCallback } from "oncehook/testing";
import { createApp } from "../app.ts";
import config from "../oncehook.config.ts";
import { testReceiver } from "./test-receiver.ts";

test("a paid invoice is written down once, however often Stripe sends it", async () => {
  await using webhooks = testReceiver();
  const server = serve({ fetch: createApp(webhooks.receiver).fetch, port: 0 });
  const { port } = server.address() as AddressInfo;
  try {
    const data = { data: { object: { id: "in_1", amount_paid: 490 } } };
    const callback = signedCallback(config, { source: "stripe", type: "invoice.paid", data });
    const send = async () => (await fetch(`http://127.0.0.1:${port}${callback.path}`, callback)).json();
    assert.deepEqual(await send(), { status: "success", data: { invoice: "in_1" } });
    assert.deepEqual(await send(), { status: "already_processed" });
    assert.deepEqual(webhooks.rows("SELECT id, cents FROM paid_invoices"), [{ id: "in_1", cents: 490 }]);
  } finally {
    server.close();
  }
});
