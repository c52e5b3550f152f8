import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { DIALECTS } from "../support/databases.ts";
import { event, withReceiver } from "../support/receiver.ts";

const CENTS = { price: { amount: 10 } };

describe("a handler that changes the event it is given", () => {
  it.each(DIALECTS)("a handler changes nothing of what the callback log shows as sent: %s", (dialect) => {
    const handler = defineHandler({
      type: "changing",
      data: z.object({ price: z.custom<{ amount: number; paid?: boolean }>() }),
      async handle({ event: { data } }) {
        data.price.amount *= 100;
        data.price.paid = true;
        return {};
      },
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        const sent = event("changing", CENTS);
        expect((await receiver.send(sent)).status).toBe(200);
        const [line] = receiver.lines.filter(({ msg }) => msg === "callback");
        expect(line?.body).toEqual(sent);
      },
      { handlers: [handler] },
    );
  });

  it("a handler finds it as it was sent when the database makes it run again", () => {
    let runs = 0;
    const handler = defineHandler({
      type: "again",
      data: z.object({ price: z.object({ amount: z.number() }) }),
      async handle({ event: { data }, tx }) {
        runs += 1;
        data.price.amount *= 100;
        if (runs === 1)
          await tx.execute("DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = 'serialization_failure'; END $$");
        return { amount: data.price.amount };
      },
    });
    return withReceiver(
      "postgres",
      async (receiver) => {
        const { body } = await receiver.send(event("again", CENTS));
        expect([runs, body]).toEqual([2, { status: "success", data: { amount: 1_000 } }]);
      },
      { handlers: [handler] },
    );
  });
});
