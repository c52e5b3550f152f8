import { setTimeout as sleep } from "node:timers/promises";
import { defineConfig, defineHandler, type HandleContext, type Migration, sql } from "oncehook";
import { z } from "zod";
import { code, mail, shop, tenants, transfers } from "./sources.ts";

/**
 * The handlers of the fault rounds. Each event leaves one effect, two rows of double entry, two balances and one
 * notification; an auditor who knows what was sent can tell whether anything is missing or there twice.
 */
const posting = z.object({ from: z.string(), to: z.string(), cents: z.int().positive() });
type Posting = z.infer<typeof posting>;

/** How many of a hundred runs of `ledger_shaky` fail, and how long `ledger_slow` takes. */
const FAILING_PERCENT = Number(process.env.LEDGER_FAILING_PERCENT ?? "30");
const LAST_WORDS = process.env.LEDGER_LAST_WORDS ?? "";
const CRASH_MS = 200;
const SLOW_MS = Number(process.env.LEDGER_SLOW_MS ?? "50");
/** How long the outside work of `ledger_outside` takes. */
const OUTSIDE_MS = Number(process.env.LEDGER_OUTSIDE_MS ?? "0");
/** Each source is there where its round sets its variable. */
const {
  LEDGER_SHOP_ANSWER,
  LEDGER_MAIL_KEY,
  LEDGER_TRANSFERS_KEY,
  LEDGER_CODE,
  LEDGER_TENANTS_ANSWER,
  LEDGER_REFUSES,
} = process.env;

const LEDGER: Migration = {
  name: "ledger",
  async up({ query }) {
    const statements = [
      "CREATE TABLE ledger_effects (event_id text PRIMARY KEY, times integer NOT NULL)",
      "CREATE TABLE ledger_postings (event_id text NOT NULL, account text NOT NULL, debit integer NOT NULL, credit integer NOT NULL)",
      "CREATE TABLE ledger_accounts (account text PRIMARY KEY, cents bigint NOT NULL)",
      `INSERT INTO ledger_accounts (account, cents) VALUES ${Array.from({ length: 16 }, (_, at) => `('account-${at}', 0)`).join(", ")}`,
    ];
    for (const statement of statements) await sql.raw(statement).execute(query);
  },
};

type Run = Pick<HandleContext<Posting>, "event" | "tx" | "notify" | "attempt">;

/** The effect is counted, not merely there: a second one shows even where nothing else stands in its way. */
async function post({ event, tx, notify }: Run): Promise<{ posted: string; cents: number }> {
  const { from, to, cents } = event.data;
  const id = event.event_id;
  await tx.query
    .withTables<{ ledger_effects: { event_id: string; times: number } }>()
    .insertInto("ledger_effects")
    .values({ event_id: id, times: 1 })
    .onConflict((conflict) => conflict.column("event_id").doUpdateSet({ times: sql`ledger_effects.times + 1` }))
    .execute();
  await sql`INSERT INTO ledger_postings (event_id, account, debit, credit)
    VALUES (${id}, ${from}, ${cents}, 0), (${id}, ${to}, 0, ${cents})`.execute(tx.query);
  await notify("ledger.posted", { event_id: id, cents });
  return { posted: id, cents };
}

/** Two rows that many events want, in either order: on PostgreSQL they wait for each other, and deadlock. */
async function transfer(run: Run): Promise<{ posted: string; cents: number }> {
  const { from, to, cents } = run.event.data;
  await sql`UPDATE ledger_accounts SET cents = cents - ${cents} WHERE account = ${from}`.execute(run.tx.query);
  await sql`UPDATE ledger_accounts SET cents = cents + ${cents} WHERE account = ${to}`.execute(run.tx.query);
  return post(run);
}

/** How a process ends in a handler; the id of the event names it. */
const ENDS: Readonly<Record<string, () => Promise<never>>> = {
  exit: () => process.exit(7),
  throw() {
    setImmediate(() => {
      throw new Error("thrown where nothing catches it");
    });
    return new Promise<never>(() => {});
  },
  memory() {
    const kept: string[][] = [];
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, at) => `${kept.length}-${at}`));
  },
  loop() {
    for (;;);
  },
};

type Handle = (run: Run) => Promise<{ posted: string; cents: number }>;
const ledger = (type: string, handle: Handle, migrations: readonly Migration[] = []) =>
  defineHandler({ type, data: posting, migrations, handle });

const SOURCES = {
  ...(LEDGER_SHOP_ANSWER !== undefined && { shop: shop(LEDGER_SHOP_ANSWER) }),
  ...(LEDGER_TENANTS_ANSWER !== undefined && { tenants: tenants(LEDGER_TENANTS_ANSWER as `${number}ms`) }),
  ...(LEDGER_MAIL_KEY !== undefined && { mail: mail(LEDGER_MAIL_KEY) }),
  ...(LEDGER_TRANSFERS_KEY !== undefined && { transfers: transfers(LEDGER_TRANSFERS_KEY) }),
  ...(LEDGER_CODE !== undefined && { code: code() }),
};

const outside = {
  type: "ledger_outside",
  data: z.object({ data: z.object({ object: posting }) }).transform(({ data }) => data.object),
  // Outside work belongs here: in `handle` it would hold the one writer of SQLite.
  prepare: () => sleep(OUTSIDE_MS, null),
  handle: post,
};

/** The handlers of the sources beside the platform; each reads what its platform sends. */
const OF_SOURCES = [
  defineHandler({ source: "shop", ...outside }),
  // Stripe's envelope says "event" there: all events of a tenant have one key.
  defineHandler({ source: "tenants", orderBy: "data.object", ...outside }),
  defineHandler({
    ...outside,
    source: "transfers",
    data: z.object({ data: posting }).transform(({ data }) => data),
  }),
  defineHandler({ source: "mail", type: "ledger_posting", data: posting, handle: post }),
  defineHandler({
    source: "code",
    type: "ledger_posting",
    // A schema that is wrong about every second event, until it is mended.
    data: posting.refine(({ cents }) => LEDGER_REFUSES === undefined || cents % 2 === 0),
    handle: post,
  }),
].filter(({ source }) => source in SOURCES);

export default defineConfig({
  sources: SOURCES,
  handlers: [
    ...OF_SOURCES,
    ledger("ledger_posting", post, [LEDGER]),
    ledger("ledger_transfer", transfer),
    ledger("ledger_shaky", async (run) => {
      const posted = await post(run);
      if (Math.random() * 100 < FAILING_PERCENT) throw new Error("the ledger is shaky");
      return posted;
    }),
    ledger("ledger_slow", async (run) => {
      const posted = await post(run);
      await sleep(SLOW_MS);
      return posted;
    }),
    // A poison: whatever is done, it fails, after it has written all that the others write.
    ledger("ledger_poison", async (run) => {
      await post(run);
      throw new Error("this event is poison");
    }),
    // The database refuses to serialize it beside another one at work, and it is run again.
    ledger("ledger_serial", async (run) => {
      if (run.tx.dialect === "postgres") {
        await sql`SELECT sum(cents) FROM ledger_accounts`.execute(run.tx.query);
      }
      return transfer(run);
    }),
    ledger("ledger_crashing", async (run) => {
      // Thrown where nobody can catch it: the process cannot know what it left half done. Later than its own commit, or
      // the event would never be handled.
      setTimeout(() => {
        throw new Error(`this handler took the process down: ${LAST_WORDS}`);
      }, CRASH_MS);
      return post(run);
    }),
    ledger("ledger_looping", async (run) => {
      setTimeout(() => {
        for (;;);
      }, CRASH_MS);
      return post(run);
    }),
    // Kept for its retry, which ends the process: in the way that the id names, or not at all.
    ledger("ledger_fatal", async (run) => {
      const posted = await post(run);
      if (run.attempt === "inline") throw new Error("not in the callback itself");
      return (await ENDS[run.event.event_id.split("-")[1] ?? ""]?.()) ?? posted;
    }),
    ledger("ledger_endless", () => new Promise<never>(() => {})),
    ledger("ledger_rejecting", async (run) => {
      // A user's mistake: nobody awaits it, and nobody catches it.
      void Promise.reject(new Error("nobody caught this"));
      return post(run);
    }),
  ],
});
