import assert from "node:assert/strict";
import { test } from "node:test";
import { defineHandler } from "oncehook";
import { startTestReceiver } from "oncehook/testing";
import { z } from "zod";

test("a parcel is taken once the warehouse is back", async () => {
  let isDown = true;
  const taken = defineHandler({
    type: "parcel_taken",
    data: z.object({ parcel_id: z.string() }),
    async handle({ event, notify }) {
      if (isDown) throw new Error("the warehouse does not answer");
      await notify("parcel.taken", { parcel_id: event.data.parcel_id });
      return { parcel_id: event.data.parcel_id };
    },
  });
  await using receiver = await startTestReceiver({ handlers: [taken] });
  const event = { event_type: "parcel_taken", data: { parcel_id: "p1" } };

  assert.equal((await receiver.sendForged(event)).status, 401);
  assert.equal((await receiver.send(event)).status, 500);
  const [failure] = await receiver.failures();
  assert.match(failure?.error ?? "", /the warehouse does not answer/);

  isDown = false;
  await receiver.clock.advance(60_000); // the first retry comes after a minute
  assert.deepEqual(await receiver.failures(), []);
  const [record] = await receiver.records();
  assert.deepEqual(record?.result, { parcel_id: "p1" });
  const [notification] = await receiver.notifications();
  assert.equal(notification?.topic, "parcel.taken");
});
