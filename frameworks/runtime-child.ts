/**
 * A receiver behind Hono in another runtime. Argument: the database's address. It writes, as JSON, how signed, repeated,
 * forged and 64 callbacks at once ended, and what `work()` did.
 */
import { Hono } from "hono";
import { createReceiver } from "../src/embed/index.ts";
import { stripe } from "../src/sources/platforms/index.ts";
import {
  paid,
  requestOf,
  type SignedCallback,
  STRIPE_SECRET,
  stripeCallback,
  VARIABLES,
} from "../test/support/application.ts";

const ignore = () => {};
const receiver = createReceiver(
  { sources: { billing: stripe({ secret: STRIPE_SECRET }) }, handlers: [paid()] },
  {
    database: process.argv[2] ?? "",
    variables: VARIABLES,
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    background: "none",
  },
);
const app = new Hono();
app.all("/api/:source/callback", (c) => receiver.fetch(c.req.raw, { clientAddress: "192.0.2.7" }));

async function send(callback: SignedCallback): Promise<string> {
  const response = await app.fetch(requestOf(callback));
  const { status } = (await response.json()) as { status?: string };
  return `${response.status} ${status}`;
}

await receiver.ready();
const callback = stripeCallback();
const first = [await send(callback), await send(callback)];
const forged = await send(stripeCallback("evt_forged", "whsec_of_another_one"));
const other = stripeCallback();
const many = await Promise.all(Array.from({ length: 64 }, () => send(other)));
const successes = many.filter((one) => one === "200 success").length;
const duplicates = many.filter((one) => one === "200 already_processed").length;
const work = await receiver.work({ budgetMs: 2_000 });
await receiver.close();
process.stdout.write(JSON.stringify({ first, forged, successes, duplicates, work }));
