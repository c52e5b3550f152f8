import { describe, expect, inject, it } from "vitest";
import { z } from "zod";
import { defineHandler, type RetryOptions } from "../../src/index.ts";
import { customerIo, stripe } from "../../src/sources/platforms/index.ts";
import { startTestReceiver } from "../../src/testing/index.ts";
import { DIALECTS, type Dialect } from "../support/databases.ts";

const HOUR = 3_600_000;
const EVENTS = Array.from({ length: 20 }, (_, index) => `evt_${index}`);

interface Outage {
  readonly answer?: "after" | "inline";
  readonly retry?: RetryOptions;
  readonly ofHandler?: RetryOptions;
}

/** A receiver of Stripe's events whose handler fails until it is healed. */
async function receiverInOutage(dialect: Dialect, { answer = "after", retry, ofHandler }: Outage = {}) {
  const outage = { isOver: false };
  const ran: string[] = [];
  const receiver = await startTestReceiver({
    ...(dialect === "postgres" && { databaseUrl: inject("postgresUrl") }),
    printFailures: false,
    sources: { billing: stripe({ secret: "whsec_of-the-tests", answer, ...(retry && { retry }) }) },
    handlers: [
      defineHandler({
        source: "billing",
        type: "invoice.paid",
        data: z.looseObject({}),
        ...(ofHandler && { retry: ofHandler }),
        handle({ event }) {
          if (!outage.isOver) throw new Error("the bank does not respond");
          ran.push(event.event_id);
          return {};
        },
      }),
    ],
  });
  const send = (id: string) => receiver.send({ source: "billing", type: "invoice.paid", id });
  return { receiver, outage, ran, send };
}

describe("an outage of a handler", () => {
  for (const dialect of DIALECTS)
    it(`twenty accepted events of Stripe survive 48 hours of a failing handler on ${dialect}, and each runs once`, {
      tags: "full",
      timeout: 180_000,
    }, async () => {
      const { receiver, outage, ran, send } = await receiverInOutage(dialect);
      await using _ = receiver;
      for (const id of EVENTS) expect((await send(id)).status).toBe(200);
      await receiver.clock.advance(48 * HOUR);
      const failures = await receiver.failures();
      expect(failures.map(({ event_id, state }) => [event_id, state])).toEqual(EVENTS.map((id) => [id, "waiting"]));
      // Chance has taken them apart: they do not all come due together once the handler is well.
      expect(new Set(failures.map(({ next_attempt_at }) => next_attempt_at)).size).toBe(EVENTS.length);
      for (const { gives_up_at } of failures)
        expect(Date.parse(gives_up_at ?? "")).toBeGreaterThan(receiver.clock.now().getTime() + 23 * HOUR);

      outage.isOver = true;
      await receiver.clock.advance(1.25 * HOUR);
      expect(ran.toSorted()).toEqual(EVENTS.toSorted());
      expect([await receiver.failures(), (await receiver.records()).length]).toEqual([[], EVENTS.length]);
    });

  it("an event of a source is exhausted only after the time of its `retry`, whether it was accepted or failed", async () => {
    for (const answer of ["after", "inline"] as const) {
      const retry = { for: "2h", first: "1m", factor: 3, max: "30m" } as const;
      const { receiver, outage, ran, send } = await receiverInOutage("sqlite", { answer, retry });
      await using _ = receiver;
      await send("evt_1");
      await receiver.clock.advance(2 * HOUR - 1);
      expect(await receiver.failures()).toMatchObject([{ state: "waiting" }]);
      await receiver.clock.advance(1.5 * HOUR);
      expect(await receiver.failures()).toMatchObject([
        { state: "exhausted", next_attempt_at: null, gives_up_at: null, retries_done: 7 },
      ]);
      outage.isOver = true;
      await receiver.clock.advance(96 * HOUR);
      expect(ran).toEqual([]);
    }
  });

  it("an event of a preset whose platform tries for seven days is given up after seven days, and not after three", async () => {
    const source = "mails";
    await using receiver = await startTestReceiver({
      printFailures: false,
      sources: { [source]: customerIo({ secret: "whsec_of-the-tests", answer: "inline" }) },
      handlers: [
        defineHandler({
          ...{ source, type: "*", data: z.looseObject({}) },
          handle: () => Promise.reject(new Error("the bank does not respond")),
        }),
      ],
    });
    await receiver.send({ source, type: "email.sent", id: "evt_1" });
    const [failure] = await receiver.failures();
    const hours = (Date.parse(failure?.gives_up_at ?? "") - receiver.clock.now().getTime()) / HOUR;
    expect(hours).toBeGreaterThan(167);
    expect(hours).toBeLessThan(170);
  });

  it("the `retry` of a handler takes the place of its source's, in what it names", async () => {
    const retry = { for: "0s", first: "10m", max: "1h" } as const;
    const { receiver, send } = await receiverInOutage("sqlite", {
      retry,
      ofHandler: { for: "3h", factor: 1 },
    });
    await using _ = receiver;
    await send("evt_1");
    await receiver.clock.advance(0);
    const [failure] = await receiver.failures();
    const ahead = Date.parse(failure?.next_attempt_at ?? "") - receiver.clock.now().getTime();
    expect(ahead).toBeGreaterThanOrEqual(600_000);
    expect(ahead).toBeLessThanOrEqual(720_000);
    expect(Date.parse(failure?.gives_up_at ?? "")).toBe(Date.parse(failure?.next_attempt_at ?? "") + 17 * 600_000);
  });
});
