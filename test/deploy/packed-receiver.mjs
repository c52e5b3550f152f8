/** One event of Stripe in the installed package. Usage, in the application's folder: <runtime> packed-receiver.mjs <database> */
import { createHmac } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";

const [, , database] = process.argv;
const load = createRequire(join(process.cwd(), "index.js"));
const { createReceiver, defineConfig, defineHandler, sql } = load("oncehook");
const { stripe } = load("oncehook/sources");

const SECRET = "whsec_Zk3vQ8pLx1Rb7Tn5Wd9Yc2Ha6Ug4Ms0J";
const handler = defineHandler()({
  source: "stripe",
  type: "invoice.paid",
  migrations: [{ name: "paid", up: (tx) => sql`CREATE TABLE paid (id text)`.execute(tx.query) }],
  async handle({ event, tx }) {
    await sql`INSERT INTO paid VALUES (${event.id})`.execute(tx.query);
    const { rows } = await sql`SELECT count(*) AS count FROM paid`.execute(tx.query);
    return { paid: Number(rows[0].count) };
  },
});
const receiver = createReceiver(
  defineConfig({ sources: { stripe: stripe({ secret: SECRET }) }, handlers: [handler] }),
  {
    database,
    variables: { ENCRYPTION_KEY: Buffer.alloc(32, "a key of 32 bytes, for tests only").toString("base64") },
    logger: { debug() {}, info() {}, warn() {}, error: ({ err }) => process.stderr.write(`${err?.message}\n`) },
  },
);

async function send(secret) {
  const time = Math.floor(Date.now() / 1000);
  const body = JSON.stringify({
    id: "evt_1",
    object: "event",
    type: "invoice.paid",
    created: time,
    data: { object: { id: "in_1" } },
  });
  const signature = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
  const response = await receiver.fetch(
    new Request("https://shop.example.com/api/stripe/callback", {
      method: "POST",
      headers: { "content-type": "application/json", "stripe-signature": `t=${time},v1=${signature}` },
      body,
    }),
  );
  return [response.status, await response.json()];
}

const answers = [await send(SECRET), await send(SECRET), await send("whsec_forged")];
await receiver.close();
process.stdout.write(JSON.stringify(answers));
if (answers[0][0] !== 200) process.exitCode = 1;
