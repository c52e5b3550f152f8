import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type Clock, HOUR_MS, type JsonObject, MINUTE_MS } from "../../src/domain/index.ts";
import { defineHandler } from "../../src/index.ts";
import { type SourceDefinition, signSample } from "../../src/sources/index.ts";
import { github, shopify, slack, stripe } from "../../src/sources/platforms/index.ts";
import type { Migration } from "../../src/store/index.ts";
import type { ReceiverOptions, TestReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const STEP_MS = 10 * MINUTE_MS;
const GITHUB_BROKE_MS = 55 * MINUTE_MS;
const SHOPIFY_BROKE_MS = 40 * MINUTE_MS;
const FAILED_ORDERS = 41;
const REDELIVERED_AFTER_MS = 4_000;

const secretOf = (name: string, place: number) => Buffer.alloc(32, `${name} ${place}`).toString("base64");
const SOURCES = {
  stripe: stripe({ secret: `whsec_${secretOf("stripe", 1)}` }),
  github: github({ secret: secretOf("github", 1) }),
  shopify: shopify({ secret: secretOf("shopify", 1), retry: { first: "1h" } }),
  slack: slack({ secret: secretOf("slack", 1) }),
};
/** GitHub signs with a secret that the receiver does not have, as after a change at one side. */
const OTHER_GITHUB = github({ secret: secretOf("github", 2) });
const FORGED_STRIPE = stripe({ secret: `whsec_${secretOf("nobody", 1)}` });

const LEDGER: Migration = {
  name: "ledger",
  up: ({ query }) =>
    query.schema.createTable("ledger").addColumn("event_id", "text").addColumn("type", "text").execute(),
};

/** Over the sample of each platform: numbers and customers of its own. */
const DATA: Partial<Record<keyof typeof SOURCES, (number: number, cents: number) => JsonObject>> = {
  stripe: (number, amount) => ({
    data: {
      object: {
        id: `in_1SXk${number}`,
        object: "invoice",
        number: `INV-${number}`,
        customer: `cus_QX7f${number}`,
        currency: "eur",
        amount_due: amount,
        amount_paid: amount,
        status: "paid",
      },
    },
  }),
  shopify: (number, cents) => ({
    name: `#${number}`,
    order_number: number,
    total_price: (cents / 100).toFixed(2),
  }),
};

interface Sending {
  readonly source: keyof typeof SOURCES;
  readonly type: string;
  readonly data?: Record<string, unknown>;
  readonly from?: string;
  readonly signedBy?: SourceDefinition;
}

const PLATFORM_ADDRESSES = { stripe: "3.18.12.63", github: "140.82.115.4", shopify: "34.75.13.9", slack: "52.1.8.77" };
const FORGER = "198.51.100.23";

/** The same numbers in every run: a picture changes with the page alone. */
function createChance(seed: number) {
  let state = seed;
  const next = () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
  return {
    below: (limit: number) => Math.floor(next() * limit),
    of: <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T,
  };
}

/** The last hours of a shop with four platforms: what they sent, what was refused, and what failed in the last one. */
export function hoursOfAShop(hours: number) {
  const endsAt = Date.now();
  let at = endsAt - hours * HOUR_MS;
  let number = 1_000;
  const clock: Clock = { now: () => new Date(Math.min(at, Date.now())) };
  const pass = (ms: number) => {
    at += ms;
  };
  const state = { isShopifyBroken: false };
  const chance = createChance(20_261_128);
  return {
    options: { sources: SOURCES, handlers: handlersOf(state, chance), clock } satisfies ReceiverOptions,
    /** A handler that the shop got at the end of the day, without the history of its type. */
    audit: auditHandler(),
    /** The receiver of notifications is gone since GitHub's trouble began. */
    isWebhookGone: () => endsAt - at <= GITHUB_BROKE_MS,
    /** The bug in the handler of orders is mended. */
    mend(): void {
      state.isShopifyBroken = false;
    },
    async deliver(receiver: TestReceiver): Promise<void> {
      let orders = FAILED_ORDERS;
      let sent = 0;
      while (at < endsAt) {
        const left = endsAt - at;
        state.isShopifyBroken = left <= SHOPIFY_BROKE_MS;
        const some = usual(chance, left <= GITHUB_BROKE_MS);
        const count = state.isShopifyBroken ? Math.ceil(orders / (left / STEP_MS)) : chance.below(4);
        if (state.isShopifyBroken) orders -= count;
        for (let order = 0; order < count; order += 1)
          some.splice(chance.below(some.length), 0, { source: "shopify", type: "orders/create" });
        for (const sending of some) {
          number += 1;
          sent += await send(receiver, sending, { clock, chance, number, pass });
          // The newest rows are seen: each stands in the log before the next one comes, as in a day that takes a day.
          if (left <= HOUR_MS) await until(async () => (await receiver.count("oncehook_callbacks")) >= sent, 10_000);
          at += (STEP_MS / some.length) * (0.5 + chance.below(100) / 101);
        }
      }
      at = Number.POSITIVE_INFINITY;
    },
  };
}

/** What comes within ten minutes. */
function usual(chance: ReturnType<typeof createChance>, isGithubBroken: boolean): Sending[] {
  const some: Sending[] = [];
  for (let at = 4 + chance.below(6); at > 0; at -= 1)
    some.push({
      source: "stripe",
      type: chance.of(["invoice.paid", "invoice.paid", "charge.refunded", "customer.updated"]),
    });
  // An alert needs ten refused ones.
  for (let at = (isGithubBroken ? 3 : 1) + chance.below(3); at > 0; at -= 1)
    some.push({
      source: "github",
      type: chance.of(["push", "pull_request"]),
      ...(isGithubBroken && { signedBy: OTHER_GITHUB }),
    });
  for (let at = chance.below(3); at > 0; at -= 1) some.push({ source: "slack", type: "message" });
  if (chance.below(12) === 0)
    some.push({ source: "stripe", type: "invoice.paid", signedBy: FORGED_STRIPE, from: FORGER });
  return some;
}

interface Place {
  readonly clock: Clock;
  readonly chance: ReturnType<typeof createChance>;
  readonly number: number;
  /** Lets this time go by. */
  readonly pass: (ms: number) => void;
}

/** @returns how often it was delivered */
async function send(receiver: TestReceiver, sending: Sending, { clock, chance, number, pass }: Place): Promise<number> {
  const { source, type, signedBy = SOURCES[source], from = PLATFORM_ADDRESSES[source] } = sending;
  const url = new URL(`${receiver.publicOrigin}/api/${source}/callback`);
  const data = DATA[source]?.(number, 1_000 + chance.below(40) * 250);
  const sample = (raw?: Buffer) =>
    signSample(signedBy, { source, type, now: clock.now(), data, url, origin: url.origin, raw });
  const deliver = async ({ headers, body }: ReturnType<typeof sample>) => {
    const forwarded = { "x-forwarded-for": from, "x-forwarded-proto": "https" };
    const response = await fetch(url, { method: "POST", body, headers: { ...headers, ...forwarded } });
    await response.arrayBuffer();
    return response.ok;
  };
  const first = sample();
  if (!(await deliver(first)) || chance.below(15) > 0) return 1;
  pass(REDELIVERED_AFTER_MS);
  await deliver(source === "stripe" ? sample(deliveredAgain(first.body)) : first);
  return 2;
}

/** Stripe counts in an event the webhooks that have not answered, and signs each delivery. */
function deliveredAgain(body: Uint8Array): Buffer {
  const event: unknown = JSON.parse(Buffer.from(body).toString());
  return Buffer.from(JSON.stringify({ ...Object(event), pending_webhooks: 2 }));
}

function handlersOf(state: { readonly isShopifyBroken: boolean }, chance: ReturnType<typeof createChance>) {
  const data = z.looseObject({});
  const handler = (source: keyof typeof SOURCES, type: string) =>
    defineHandler({
      source,
      type,
      data,
      migrations: [LEDGER],
      async handle({ event, tx, notify }) {
        await sleep(2 + chance.below(chance.below(20) === 0 ? 180 : 25));
        if (source === "shopify" && state.isShopifyBroken) throw missingProduct();
        await tx.execute("INSERT INTO ledger (event_id, type) VALUES (?, ?)", [event.event_id, event.event_type]);
        if (type === "invoice.paid") await notify("invoice.paid", { event: event.event_id });
        return { booked: event.event_id };
      },
    });
  const handlers = [
    handler("stripe", "invoice.paid"),
    handler("stripe", "charge.refunded"),
    handler("shopify", "orders/create"),
    handler("github", "push"),
    handler("github", "pull_request"),
    handler("slack", "message"),
  ];
  return [...handlers];
}

function auditHandler() {
  return defineHandler({
    source: "stripe",
    name: "audit",
    type: "invoice.paid",
    data: z.looseObject({}),
    handle: ({ event }) => ({ audited: event.event_id }),
  });
}

/** Its stack names a file of the shop's, whatever folder the test runs in. */
function missingProduct(): TypeError {
  const error = new TypeError("Cannot read properties of undefined (reading 'sku')");
  error.stack = `${error.name}: ${error.message}\n    at reserveStock (/srv/shop/handlers/orders.ts:27:31)\n    at Object.handle (/srv/shop/handlers/orders.ts:14:11)`;
  return error;
}
