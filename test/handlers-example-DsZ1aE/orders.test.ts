import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { startTestReceiver } from "oncehook/testing";

test("an order is priced once", async (t) => {
  let asked = 0;
  const prices = createServer((_request, response) => response.end(JSON.stringify({ cents: 100 + asked++ })));
  await new Promise<void>((resolve) => prices.listen(0, "127.0.0.1", resolve));
  t.after(() => prices.close());
  process.env.PRICES_URL = `http://127.0.0.1:${(prices.address() as { port: number }).port}`;
  const { orderPlaced } = await import("./oncehook.config.ts");

  await using receiver = await startTestReceiver({ handlers: [orderPlaced] });
  const first = await receiver.send({ event_type: "order_placed", data: { order_id: "o1", article: "a" } });
  assert.deepEqual(first.body, { status: "success", data: { order_id: "o1", cents: 100 } });
  const again = await receiver.send(first.event);
  assert.deepEqual(again.body, { status: "already_processed" });
  assert.equal(asked, 1);
});
