import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { describeFullOnPostgres, withDatabase } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { openForAllTests } from "../support/for-all-tests.ts";
import { startReceiver, type TestReceiver } from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";

interface RawJson {
  rawJSON(text: string): unknown;
}

const BEYOND = "9007199254740993";

/** A handler whose schema takes numbers alone, as one does before it has met a long one. */
const counted = defineHandler({
  type: "counted",
  data: z.object({ count: z.number() }),
  handle: ({ event }) => ({ count: event.data.count }),
});
/** One whose schema takes integers alone, which a rounded number is not for it: it is unsafe. */
const whole = defineHandler({
  type: "whole",
  data: z.object({ count: z.number().int().positive(), note: z.string().optional() }),
  handle: ({ event }) => ({ count: event.data.count }),
});
const several = defineHandler({
  type: "several",
  data: z.object({ many: z.array(z.number()) }),
  handle: () => ({}),
});
const order = defineHandler({
  source: "shop",
  type: "order",
  data: z.looseObject({ amount: z.number() }),
  handle: () => ({}),
});
/** One that keeps the digits of both. */
const exact = defineHandler({
  type: "exact",
  data: z.object({ id: z.union([z.number(), z.string()]).transform(String) }),
  handle: ({ event }) => ({ id: event.data.id }),
});

/** One that keeps them too, and fails in the callback. */
const later = defineHandler({
  type: "later",
  data: z.object({ id: z.union([z.number(), z.string()]).transform(String) }),
  handle({ event, attempt }) {
    if (attempt === "inline") throw new Error("down");
    return { id: event.data.id };
  },
});

describeFullOnPostgres("numbers of a callback on %s", (dialect) => {
  let receiver: TestReceiver;
  let events = 0;

  openForAllTests((untilTestsEnd) =>
    withDatabase(dialect, async (target) => {
      receiver = await startReceiver(target, {
        sources: { shop: shop() },
        handlers: [counted, whole, exact, later, several, order],
      });
      await untilTestsEnd();
      await receiver.stop();
    }),
  );

  /** Sends `data` as it is written. */
  const send = async (event_type: string, data: string) => {
    events += 1;
    const event_id = `number-${events}`;
    const now = Math.floor(Date.now() / 1000);
    const raw = `{"event_id":"${event_id}","event_type":"${event_type}","timestamp":${now},"data":${data}}`;
    return { event_id, ...(await receiver.send({ event_type }, { raw })) };
  };
  const pay = (data: string) => send("payment_notify", data);
  const orderOf = async (eventId: string) =>
    (await rowsOf(receiver.target, `SELECT order_id, amount FROM orders WHERE event_id = '${eventId}'`))[0];

  it.each([
    [BEYOND, BEYOND],
    ["-9007199254740993.5", "-9007199254740993.5"],
    ["1e400", "1e400"],
    ["1E400", "1E400"],
    ["1e+400", "1e+400"],
    ["12345678901234567890E+2", "12345678901234567890E+2"],
    ["0.12345678901234567890", "0.12345678901234567890"],
    ["9007199254740992", "9007199254740992"],
    ["0.30000000000000004", "0.30000000000000004"],
    ["1.10", "1.1"],
    ["1E2", "100"],
  ])("numbers reach a schema of numbers and strings with all their digits: %s", async (sent, read) => {
    expect(await send("exact", `{"id":${sent}}`)).toMatchObject({
      status: 200,
      body: { data: { id: read } },
    });
  });

  it("a number has all its digits in a replay as well", async () => {
    const { status, event_id } = await send("later", `{"id":${BEYOND}}`);
    expect(status).toBe(500);
    const path = `/api/v1/failures/platform/${event_id}/replay`;
    expect((await receiver.admin(path, { method: "POST" })).body).toMatchObject({
      outcome: "success",
      result: { id: BEYOND },
    });
  });

  it("a number is never rounded for a schema of plain numbers, and the event is kept as a failure", async () => {
    const { status, event_id } = await send("counted", `{"count":${BEYOND}}`);
    expect(status).toBe(400);
    const [failure] = await rowsOf(
      receiver.target,
      `SELECT code, error FROM oncehook_failures WHERE event_id = '${event_id}'`,
    );
    expect(failure).toMatchObject({ code: "event_invalid" });
    expect(failure?.error).toContain("more digits than a JavaScript number");
    expect((await send("counted", '{"count":9007199254740991}')).body).toMatchObject({
      data: { count: 9007199254740991 },
    });
  });

  it("the error about rounded numbers names the first three of them", async () => {
    const { event_id } = await send("several", `{"many":[${BEYOND},1e401,1e402,1e403]}`);
    const [failure] = await rowsOf(
      receiver.target,
      `SELECT error FROM oncehook_failures WHERE event_id = '${event_id}'`,
    );
    expect(failure?.error).toContain(`holds (${BEYOND}, 1e401, 1e402), which reach`);
  });

  it("a value that is wrong for another reason than its digits is refused by its name", async () => {
    const answer = await send("counted", `{"count":"many","id":${BEYOND}}`);
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining("data.count") } });
  });

  it.each([BEYOND, "1e400", "123456789012345678901234567890"])(
    "a large number is kept as a failure that names it where the schema takes integers alone: %s",
    async (sent) => {
      const { status, event_id } = await send("whole", `{"count":${sent}}`);
      expect(status).toBe(400);
      const [failure] = await rowsOf(
        receiver.target,
        `SELECT error FROM oncehook_failures WHERE event_id = '${event_id}'`,
      );
      expect(failure?.error).toMatch(
        /data\.count: .*\. The body has numbers with more digits than a JavaScript number/,
      );
      expect(failure?.error).toContain(`(${sent})`);
    },
  );

  it.each([
    ["a fraction for an integer", '{"count":0.12345678901234567890}'],
    ["a negative number for a positive one", `{"count":-${BEYOND}}`],
    ["another field that is wrong", `{"count":${BEYOND},"note":5}`],
  ])("a number that no digits would make valid is refused for good: %s", async (_title, data) => {
    expect(await send("whole", data)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining("data.") },
    });
  });

  it("a source's event is kept with a cause that names the number where the schema takes numbers only", async () => {
    const amount = (JSON as unknown as RawJson).rawJSON("79.989999999999995");
    const { status } = await deliverToShop(receiver, { id: "order-1", amount, note: "9007199254740993" });
    expect(status).toBe(200);
    const cause = "SELECT error FROM oncehook_failures WHERE event_id = 'order-1' AND state = 'rejected'";
    const [failure] = await rowsOf(receiver.target, cause);
    expect(failure?.error).toMatch(/data\.amount: .* JavaScript number holds \(79\.989999999999995\), which/);
  });

  it("a number that no schema reads may have any digits", async () => {
    expect((await send("counted", `{"count":1,"id":${BEYOND}}`)).status).toBe(200);
  });

  it("the log has a number with the digits that were sent", async () => {
    const { event_id } = await send("exact", `{"id":${BEYOND}}`);
    const [row] = await rowsOf(
      receiver.target,
      `SELECT request_body FROM oncehook_callbacks WHERE request_body LIKE '%${event_id}"%'`,
    );
    expect(row?.request_body).toContain(BEYOND);
  });

  it.each([
    ["a number", "49.9", "49.9"],
    ["a decimal string", '"49.90"', "49.90"],
    ["a negative number, of a refund", "-5", "-5"],
    ["a negative decimal string", '"-12.50"', "-12.50"],
    ["nothing", "0", "0"],
    ["a number beyond a double", `${BEYOND}.25`, `${BEYOND}.25`],
    ["a number in scientific notation", "1e21", "1000000000000000000000"],
    ["a small number", "1e-7", "0.0000001"],
  ])("the amount of payment_notify may be %s, and keeps its digits", async (_title, sent, kept) => {
    const answer = await pay(`{"order_id":"order-${events}","amount":${sent}}`);
    expect(answer.status).toBe(200);
    expect(String((await orderOf(answer.event_id))?.amount)).toBe(kept);
  });

  it.each([
    ["an integer", "123", 123],
    ["an integer beyond a double", BEYOND, BEYOND],
    ["a string", '"o-1"', "o-1"],
  ])("the order_id of payment_notify may be %s, and is returned", async (_title, sent, answered) => {
    const answer = await pay(`{"order_id":${sent},"amount":1}`);
    expect(answer).toMatchObject({ status: 200, body: { data: { order_id: answered } } });
    expect((await orderOf(answer.event_id))?.order_id).toBe(String(answered));
  });

  it("order_id of payment_notify names one order, as a number and as a string", async () => {
    await pay('{"order_id":"777","amount":1}');
    const { event_id } = await pay('{"order_id":777,"amount":2}');
    expect(await receiver.count("orders", "order_id = '777'")).toBe(1);
    expect(String((await orderOf(event_id))?.amount)).toBe("2");
  });

  it.each(["true", "null", '"ten"', '"NaN"', '"1e9999"', '""', "{}", '"1,5"'])(
    "a wrong amount of payment_notify is refused: %s",
    async (sent) => {
      expect(await pay(`{"order_id":"o","amount":${sent}}`)).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('a number, or a decimal number as a string such as "49.90"') },
      });
    },
  );
});
