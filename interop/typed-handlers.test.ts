import { describe, expect, expectTypeOf, it } from "vitest";
import { defineConfig, defineHandler, typed } from "../src/index.ts";
import { github, shopify, slack, stripe } from "../src/sources/platforms/index.ts";
import { startTestReceiver } from "../src/testing/index.ts";
import type { BlockAction, EnvelopedEvent, IssuesEvent, SlashCommand, Stripe, types } from "./sdk-types.ts";
import { invoicePaid, issueOpened, mentioned, orderPaid } from "./typed-handlers.ts";

const secret = "whsec_of-the-tests";
const config = defineConfig({
  sources: {
    stripe: stripe({ secret }),
    github: github({ secret }),
    slack: slack({ secret }),
    shopify: shopify({ secret }),
  },
  handlers: [invoicePaid, issueOpened, mentioned, orderPaid],
});

describe("handlers that the platforms' own SDKs type", () => {
  it.each([
    ["stripe", "invoice.paid", { data: { object: { id: "in_1", amount_paid: 4900, currency: "eur" } } }],
    ["github", "issues", { action: "opened", issue: { number: 7, state: "open" }, repository: { full_name: "a/b" } }],
    ["slack", "app_mention", { team_id: "T1", event: { type: "app_mention", channel: "C1" } }],
    ["shopify", "orders/paid", { id: 5, total_price: "49.00" }],
  ])("a signed callback of %s has the shape that its type says", async (source, type, data) => {
    await using receiver = await startTestReceiver(config);
    expect((await receiver.send({ source, type, data })).status).toBe(200);
    const results: Readonly<Record<string, unknown>> = {
      stripe: { invoice: "in_1", amount_paid: 4900, currency: "eur" },
      github: { issue: 7, state: "open", repository: "a/b" },
      slack: { team: "T1", channel: "C1" },
      shopify: { order: 5, total: "49.00", shop: expect.any(String) },
    };
    expect(await receiver.records()).toMatchObject([{ result: results[source] }]);
  });

  // `tsc -p interop` holds these to their expected errors.
  it("Stripe's SDK types the whole event", () => {
    const handler = defineHandler({
      source: "stripe",
      type: "invoice.paid",
      data: typed<Stripe.InvoicePaidEvent>(),
      handle({ event: { data } }) {
        expectTypeOf(data).toEqualTypeOf<Stripe.InvoicePaidEvent>();
        expectTypeOf(data.data.object).toEqualTypeOf<Stripe.Invoice>();
        // @ts-expect-error: the invoice is `data.data.object`
        void data.object.amount_paid;
        // @ts-expect-error: an invoice has no such field
        void data.data.object.amount_payed;
        return {};
      },
    });
    expect(handler.source).toBe("stripe");
  });

  it("one type of Stripe's SDK serves a handler of all types, told apart by `type`", () => {
    const handler = defineHandler({
      source: "stripe",
      type: "*",
      data: typed<Stripe.Event>(),
      handle({ event: { data } }) {
        if (data.type !== "charge.refunded") return {};
        expectTypeOf(data.data.object).toEqualTypeOf<Stripe.Charge>();
        return { refunded: data.data.object.amount_refunded };
      },
    });
    expect(handler.type).toBe("*");
  });

  it("GitHub's types tell the actions of an event apart", () => {
    const handler = defineHandler({
      source: "github",
      type: "issues",
      data: typed<IssuesEvent>(),
      handle({ event: { data } }) {
        expectTypeOf(data).toEqualTypeOf<IssuesEvent>();
        // @ts-expect-error: only some actions have a label
        void data.label;
        return data.action === "labeled" ? { label: data.label?.name ?? null } : {};
      },
    });
    expect(handler.source).toBe("github");
  });

  it("Slack's SDK types the envelope of an event, an interaction and a slash command", () => {
    const mention = defineHandler({
      source: "slack",
      type: "app_mention",
      data: typed<EnvelopedEvent<types.AppMentionEvent>>(),
      handle({ event: { data } }) {
        expectTypeOf(data.event).toEqualTypeOf<types.AppMentionEvent>();
        // @ts-expect-error: a mention has no such field (the envelope itself takes any)
        void data.event.chanel;
        return { channel: data.event.channel };
      },
    });
    const clicked = defineHandler({
      source: "slack",
      type: "block_actions",
      data: typed<BlockAction>(),
      handle: ({ event }) => ({ user: event.data.user.id, actions: event.data.actions.length }),
    });
    const deploy = defineHandler({
      source: "slack",
      type: "/deploy",
      data: typed<SlashCommand>(),
      handle: ({ event }) => ({ text: event.data.text }),
    });
    expect([mention, clicked, deploy].map(({ type }) => type)).toEqual(["app_mention", "block_actions", "/deploy"]);
  });
});
