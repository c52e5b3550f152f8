import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineConfig, defineHandler } from "../../src/index.ts";
import { adyen, braintree, github, slack, square, stripe } from "../../src/sources/platforms/index.ts";
import { startTestReceiver } from "../../src/testing/index.ts";

const SECRET = "whsec_of-the-tests";
const paid = defineHandler({
  source: "billing",
  type: "invoice.*",
  data: z.looseObject({ data: z.object({ object: z.object({ id: z.string() }) }) }),
  async handle({ event }) {
    return { invoice: event.data.data.object.id, type: event.event_type };
  },
});
const config = defineConfig({ sources: { billing: stripe({ secret: SECRET }) }, handlers: [paid] });
const callback = { source: "billing", type: "invoice.paid", data: { data: { object: { id: "in_1" } } } };

describe("a test receiver with sources", () => {
  it("a test receiver sends a callback in the platform's shape, signed as the platform signs, to its handler", async () => {
    await using receiver = await startTestReceiver(config);
    const { status, body, event } = await receiver.send(callback);
    expect([status, body.data]).toEqual([200, { invoice: "in_1", type: "invoice.paid" }]);
    expect(await receiver.records()).toMatchObject([{ source: "billing", event_id: event.id }]);
  });

  it("a test receiver returns a source's callback so that it can be sent again", async () => {
    await using receiver = await startTestReceiver(config);
    const { event } = await receiver.send(callback);
    expect((await receiver.send(event)).body.status).toBe("already_processed");
    expect((await receiver.send(callback)).body.status).toBe("success");
  });

  it("a test receiver signs at the time of its clock, wherever that is", async () => {
    await using receiver = await startTestReceiver({ ...config, now: new Date("2020-01-01T00:00:00Z") });
    expect((await receiver.send({ ...callback, timestamp: 1_500_000_000 })).status).toBe(200);
    await receiver.clock.advance(86_400_000);
    expect((await receiver.send(callback)).status).toBe(200);
  });

  it("a test receiver sends to the source's own path, below the base path, with the registered origin in the signature", async () => {
    const sources = { shop: square({ secret: SECRET, path: "/hooks/square" }) };
    const env = { CALLBACK_BASE_URL: "https://shop.example/base" };
    await using receiver = await startTestReceiver({ sources, env });
    const { status } = await receiver.send({ source: "shop", type: "payment.created" });
    expect(status).toBe(200);
  });

  it("a test receiver sends a source's callback with the test's own headers, and bytes that it signs", async () => {
    await using receiver = await startTestReceiver(config);
    const headers = { "Stripe-Signature": "t=1,v1=00" };
    expect((await receiver.send(callback, { headers })).status).toBe(401);
    // It is signed, so that it is kept although the contract cannot read it.
    expect((await receiver.send(callback, { raw: "no JSON" })).status).toBe(200);
    expect((await receiver.failures()).map(({ state }) => state)).toEqual(["rejected"]);
  });

  it("a test receiver returns the empty response that Slack wants as an empty text", async () => {
    await using receiver = await startTestReceiver({ sources: { slack: slack({ secret: SECRET }) } });
    const { status, body } = await receiver.send({ source: "slack", type: "app_mention" });
    expect([status, body]).toEqual([200, { text: "" }]);
  });

  it("a test receiver sends to a source of SOURCES", async () => {
    const env = { SOURCES: "github", GITHUB_SECRET: SECRET };
    await using receiver = await startTestReceiver({ env });
    expect((await receiver.send({ source: "github", type: "push" })).status).toBe(200);
    expect(await receiver.records()).toMatchObject([{ source: "github", event_type: "push" }]);
  });

  it("a test receiver signs inside the body where the platform does, and forges that signature too", async () => {
    const payments = defineHandler({
      source: "cards",
      type: "AUTHORISATION",
      data: z.looseObject({ merchantReference: z.string() }),
      handle: ({ event }) => ({ paid: event.data.merchantReference }),
    });
    const sources = { cards: adyen({ secret: "ab".repeat(32) }) };
    await using receiver = await startTestReceiver({ sources, handlers: [payments] });
    const authorised = { source: "cards", type: "AUTHORISATION", data: { merchantReference: "order-7" } };
    expect((await receiver.sendForged(authorised)).status).toBe(401);
    const { status, event } = await receiver.send(authorised);
    expect(status).toBe(200);
    expect(await receiver.records()).toMatchObject([{ event_id: `${event.id}.AUTHORISATION.true` }]);
  });

  it("a test receiver refuses to send for a source that it does not have, or whose callbacks it cannot sign", async () => {
    const sources = {
      code: github({ secret: SECRET }),
      cards: braintree({ keys: { publicKey: "p", privateKey: SECRET } }),
    };
    await using receiver = await startTestReceiver({ sources });
    await expect(receiver.send(callback)).rejects.toThrow('no source "billing": code, cards');
    await expect(receiver.send({ source: "cards", type: "check" })).rejects.toThrow(
      "no callback of Braintree can be signed here",
    );
  });
});
