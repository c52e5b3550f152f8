import { describe, expect, expectTypeOf, it } from "vitest";
import {
  defineConfig,
  defineHandler,
  type JsonObject,
  type JsonValue,
  type Transaction,
  typed,
} from "../../src/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { startTestReceiver } from "../../src/testing/index.ts";

/** As a platform's SDK declares it: an interface, which has no index signature. */
interface InvoicePaidEvent {
  readonly type: "invoice.paid";
  readonly data: { readonly object: { readonly id: string; amount_paid: number; readonly memo?: string } };
}

const BEYOND = "9007199254740993";

const paid = defineHandler<{ paid: { id: string } }>()({
  source: "stripe",
  type: "invoice.paid",
  data: typed<InvoicePaidEvent>(),
  handle({ event, tx }) {
    expectTypeOf(event.data).toEqualTypeOf<InvoicePaidEvent>();
    expectTypeOf(tx).toEqualTypeOf<Transaction<{ paid: { id: string } }>>();
    const { id, amount_paid } = event.data.data.object;
    // @ts-expect-error: the type has no such field
    void event.data.data.object.amount_payed;
    return { id, amount_paid, kind: typeof amount_paid };
  },
});
/** It changes what it gets, which a retry must not see. */
const failed = defineHandler({
  source: "stripe",
  type: "charge.failed",
  handle({ event, attempt }) {
    expectTypeOf(event.data).toEqualTypeOf<JsonObject>();
    expectTypeOf(event.data.amount).toEqualTypeOf<JsonValue | undefined>();
    const { amount = null } = event.data;
    event.data.amount = "changed";
    if (attempt === "inline") throw new Error("down");
    return { amount };
  },
});
/** One of the built-in protocol, with the result of `prepare` typed beside it. */
const shipped = defineHandler({
  type: "shipped",
  prepare: async ({ event }) => {
    expectTypeOf(event.data).toEqualTypeOf<JsonObject>();
    return { fields: Object.keys(event.data) };
  },
  handle({ event, prepared }) {
    expectTypeOf(prepared).toEqualTypeOf<{ fields: string[] }>();
    return { ...prepared, parcel: event.data.parcel ?? null };
  },
});

const config = defineConfig({
  sources: { stripe: stripe({ secret: "whsec_of-the-tests" }) },
  handlers: [paid, failed, shipped],
});

/** A body of Stripe's with an event, its amount as it is written. */
function bodyOf(type: string, amount: string): string {
  return `{"id":"evt_${type}_${amount}","object":"event","type":"${type}","created":1767225600,"amount":${amount},
    "data":{"object":{"id":"in_1","amount_paid":${amount}}}}`;
}

describe("a handler whose data is not validated", () => {
  it("a signed callback of Stripe reaches its handler with data typed by another type than a schema's", async () => {
    await using receiver = await startTestReceiver(config);
    const sent = { source: "stripe", type: "invoice.paid" };
    const { status, body } = await receiver.send(sent, { raw: bodyOf("invoice.paid", "4900") });
    expect([status, body.data]).toEqual([200, { id: "in_1", amount_paid: 4900, kind: "number" }]);
    expect((await receiver.sendForged({ ...sent, id: "evt_2" })).status).toBe(401);
  });

  it("a number beyond a JavaScript number reaches a typed handler as a string of its digits", async () => {
    await using receiver = await startTestReceiver(config);
    const raw = bodyOf("invoice.paid", BEYOND);
    const { body } = await receiver.send({ source: "stripe", type: "invoice.paid" }, { raw });
    expect(body.data).toEqual({ id: "in_1", amount_paid: BEYOND, kind: "string" });
  });

  it("data that does not fit the type of a typed handler fails in the handler and is kept", async () => {
    await using receiver = await startTestReceiver(config);
    const raw = bodyOf("invoice.paid", "1").replace(/"data":.*/s, '"data":null}');
    const { status } = await receiver.send({ source: "stripe", type: "invoice.paid" }, { raw });
    expect(status).toBe(500);
    expect(await receiver.failures()).toMatchObject([{ state: "waiting", event_type: "invoice.paid" }]);
  });

  it("a handler without a schema gets the payload as parsed, in its retry as well", async () => {
    await using receiver = await startTestReceiver(config);
    const raw = bodyOf("charge.failed", BEYOND);
    expect((await receiver.send({ source: "stripe", type: "charge.failed" }, { raw })).status).toBe(500);
    await receiver.clock.advance(3_600_000);
    await expect.poll(() => receiver.records()).toMatchObject([{ result: { amount: BEYOND } }]);
  });

  it("a handler of the built-in protocol without a schema gets its data", async () => {
    await using receiver = await startTestReceiver(config);
    const { body } = await receiver.send({ event_type: "shipped", data: { parcel: "p1" } });
    expect(body.data).toEqual({ fields: ["parcel"], parcel: "p1" });
  });

  it("data of the wrong kind is refused whether or not there is a schema", async () => {
    await using receiver = await startTestReceiver(config);
    const { status, body } = await receiver.send({ event_type: "shipped", data: ["p1"] as never });
    expect([status, body.error]).toEqual([400, "data: expected an object"]);
  });
});
