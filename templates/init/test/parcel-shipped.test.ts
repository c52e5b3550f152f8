import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestReceiver } from "oncehook/testing";
import config from "../oncehook.config.ts";

const shipped = { event_type: "parcel_shipped", data: { parcel_id: "p1", weight_grams: 250 } };

test("a parcel is written down once, however often it is delivered", async () => {
  await using receiver = await startTestReceiver(config);
  const first = await receiver.send(shipped);
  assert.deepEqual(first.body, { status: "success", data: { parcel_id: "p1" } });
  const again = await receiver.send(first.event);
  assert.deepEqual(again.body, { status: "already_processed" });

  const parcels = await receiver.read(({ query }) => query.selectFrom("parcels").selectAll().execute());
  assert.deepEqual(
    parcels.map(({ id, weight_grams }) => ({ id, weight_grams })),
    [{ id: "p1", weight_grams: 250 }],
  );
  const notifications = await receiver.notifications();
  assert.deepEqual(
    notifications.map(({ topic, payload }) => ({ topic, payload })),
    [{ topic: "parcel.shipped", payload: { parcel_id: "p1" } }],
  );
});

test("a parcel without weight is rejected, kept, and not tried again", async () => {
  await using receiver = await startTestReceiver(config);
  const weightless = { ...shipped, data: { parcel_id: "p1", weight_grams: 0 } };
  assert.equal((await receiver.send(weightless)).status, 400);
  const failures = await receiver.failures();
  assert.deepEqual(
    failures.map(({ state, next_attempt_at }) => [state, next_attempt_at]),
    [["rejected", null]],
  );
});

test("a parcel that somebody else has made up is refused", async () => {
  await using receiver = await startTestReceiver(config);
  assert.equal((await receiver.sendForged(shipped)).status, 401);
  assert.deepEqual(await receiver.records(), []);
});
