import type { IssuesEvent } from "@octokit/webhooks-types";
import type { EnvelopedEvent, types } from "@slack/bolt";
import { defineHandler, typed } from "oncehook";
import type Stripe from "stripe";

export const invoicePaid = defineHandler({
  source: "stripe",
  type: "invoice.paid",
  data: typed<Stripe.InvoicePaidEvent>(), // Stripe's whole event
  handle({ event }) {
    const { id, amount_paid, currency } = event.data.data.object;
    return { invoice: id, amount_paid, currency };
  },
});

export const issueOpened = defineHandler({
  source: "github",
  type: "issues",
  data: typed<IssuesEvent>(), // one type for all actions: `action` tells them apart
  handle({ event: { data } }) {
    if (data.action !== "opened") return {};
    return { issue: data.issue.number, state: data.issue.state, repository: data.repository.full_name };
  },
});

export const mentioned = defineHandler({
  source: "slack",
  type: "app_mention",
  data: typed<EnvelopedEvent<types.AppMentionEvent>>(), // the envelope and the event in it
  handle: ({ event }) => ({ team: event.data.team_id, channel: event.data.event.channel }),
});

/** Shopify's SDK has no types of payloads: this is one of your own, as far as you need it. */
interface PaidOrder {
  readonly id: number;
  readonly total_price: string;
}

export const orderPaid = defineHandler({
  source: "shopify",
  type: "orders/paid",
  data: typed<PaidOrder>(),
  handle: ({ event }) => ({ order: event.data.id, total: event.data.total_price, shop: shopOf(event.headers) }),
});

const shopOf = (headers: Readonly<Record<string, string>> = {}) => headers["x-shopify-shop-domain"] ?? "";
