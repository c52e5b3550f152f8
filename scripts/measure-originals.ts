/**
 * What keeping originals costs an event: `npm run measure:originals`. Two receivers in this process take the same kind of
 * events in turns, one with KEEP_ORIGINALS=0. CPU time is counted, not the clock: it depends least on other programs. Turns
 * are short, so that both of a pair meet the same machine.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuSeconds, processTree } from "../bench/machine/process-tree.ts";
import { createReceiver, defineHandler, type Receiver } from "../src/index.ts";
import { stripe } from "../src/sources/platforms/index.ts";
import { requestOf, STRIPE_SECRET, stripeCallback, VARIABLES } from "../test/support/application.ts";
import { rowsOf } from "../test/support/effects.ts";
import { execute } from "../test/support/execute.ts";
import type { Target } from "../test/support/open-target.ts";
import { startPostgresProcess } from "../test/support/postgres-process.ts";

const [PAIRS, EVENTS, WARM_UP, AT_ONCE] = [120, 320, 12_000, 64];
/** As large as an invoice's payload of one line. */
const INVOICE = {
  object: "invoice",
  status: "paid",
  currency: "eur",
  lines: { object: "list", data: [{ object: "line_item", description: "One month of the plan", quantity: 1 }] },
};
const paid = defineHandler({
  source: "billing",
  type: "invoice.paid",
  data: { "~standard": { version: 1, vendor: "measure", validate: (value: unknown) => ({ value }) } } as const,
  async handle({ event, tx, notify }) {
    const id = event.event_id;
    await tx.query.withTables<{ orders: { id: string } }>().insertInto("orders").values({ id }).execute();
    await notify("paid", { id });
    return { id };
  },
});

interface Contender {
  readonly target: Target;
  readonly receiver: Receiver;
  readonly costs: number[];
}

async function contender(target: Target, keep: string): Promise<Contender> {
  const receiver = createReceiver(
    { sources: { billing: stripe({ secret: STRIPE_SECRET }) }, handlers: [paid] },
    { database: target.url, variables: { ...VARIABLES, KEEP_ORIGINALS: keep } },
  );
  await receiver.ready();
  await execute(target, "CREATE TABLE orders (id text PRIMARY KEY)");
  return { target, receiver, costs: [] };
}

/** @returns how many microseconds of CPU an event takes, those of the database's server included */
async function run({ receiver }: Contender, events: number, server: number | undefined): Promise<number> {
  const requests = Array.from({ length: events }, () => {
    const id = `evt_${randomUUID()}`;
    const customer = `cus_${id.slice(-12)}`;
    const callback = stripeCallback(id, STRIPE_SECRET, { ...INVOICE, id: `in_${id}`, customer, amount_paid: 4_200 });
    const headers = {
      ...callback.headers,
      "user-agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
      accept: "*/*",
    };
    return requestOf({ ...callback, headers });
  });
  const serverSeconds = () => (server === undefined ? 0 : cpuSeconds(processTree([server])));
  const [before, serverBefore] = [process.cpuUsage(), serverSeconds()];
  const next = async (): Promise<void> => {
    for (let request = requests.pop(); request !== undefined; request = requests.pop()) {
      const { status } = await receiver.fetch(request);
      if (status !== 200) throw new Error(`an event was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  const { user, system } = process.cpuUsage(before);
  return (user + system + (serverSeconds() - serverBefore) * 1e6) / events;
}

const quantile = (values: readonly number[], share: number) =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? 0;
const median = (values: readonly number[]) => quantile(values, 0.5);

async function compare(name: string, targets: readonly [Target, Target], server?: number): Promise<void> {
  const without = await contender(targets[0], "0");
  const kept = await contender(targets[1], "30d");
  try {
    for (const one of [without, kept]) await run(one, WARM_UP, server);
    for (let pair = 0; pair < PAIRS; pair += 1)
      for (const one of pair % 2 === 0 ? [without, kept] : [kept, without])
        one.costs.push(await run(one, EVENTS, server));
    const added = kept.costs.map((cost, index) => cost - (without.costs[index] ?? 0));
    const [block] = await rowsOf(
      kept.target,
      "SELECT count(*) AS blocks, sum(length(encrypted_block)) AS bytes FROM oncehook_originals",
    );
    const events = WARM_UP + PAIRS * EVENTS;
    process.stdout.write(
      `${name}: ${median(without.costs).toFixed(1)} µs an event without originals, ${median(kept.costs).toFixed(1)} with; ` +
        `median of the paired differences ${median(added).toFixed(1)} µs ` +
        `(quartiles ${quantile(added, 0.25).toFixed(1)} and ${quantile(added, 0.75).toFixed(1)}); ` +
        `${(events / Number(block?.blocks)).toFixed(1)} events and ${(Number(block?.bytes) / events).toFixed(0)} bytes an event a block\n`,
    );
  } finally {
    await Promise.all([without.receiver.close(), kept.receiver.close()]);
  }
}

const folder = await mkdtemp(join(tmpdir(), "oncehook-measure-"));
try {
  const file = (name: string): Target => ({ dialect: "sqlite", url: `sqlite:${join(folder, name)}` });
  await compare("SQLite", [file("without.db"), file("kept.db")]);
  const postgres = await startPostgresProcess();
  try {
    const server: Target = { dialect: "postgres", url: postgres.url };
    const database = async (name: string): Promise<Target> => {
      await execute(server, `CREATE DATABASE ${name}`);
      return { dialect: "postgres", url: postgres.url.replace(/\/postgres$/, `/${name}`) };
    };
    await compare("PostgreSQL", [await database("without"), await database("kept")], postgres.pid);
  } finally {
    await postgres.stop();
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
