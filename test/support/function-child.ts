/**
 * A function that is killed right behind its answer, and the one that a schedule calls. Arguments: the database's
 * address, and `work` or the mode of the callback that is sent. It writes what it saw as JSON.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createReceiver } from "../../src/embed/index.ts";
import { defineHandler, Rejected } from "../../src/handlers/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { STRIPE_SECRET, stripeCallback, VARIABLES } from "./application.ts";
import { EFFECTS } from "./effects.ts";
import { FUNCTION_LIMITS, type FunctionMode } from "./functions.ts";

const [, , database = "", mode = ""] = process.argv;
const isWork = mode === "work";
const retry = { for: "1h", first: "1s" } as const;

/** Each source has a handler of its name, which does what the name says unless it is called by `work`. */
const modes: Record<FunctionMode, () => unknown> = {
  after: () => {},
  within: () => sleep(60_000),
  failing: () => {
    throw new Error("the shop is down");
  },
  rejected: () => {
    throw new Rejected("no such order");
  },
  refused: () => {},
};
const answers = { after: { answer: "after" }, within: { answer: { within: "50ms" } } } as const;
const names = Object.keys(modes) as FunctionMode[];

const handlerOf = (source: FunctionMode) =>
  defineHandler({
    ...{ source, type: "invoice.paid" },
    async prepare() {
      if (!isWork) await modes[source]();
      return null;
    },
    async handle({ event, tx }) {
      const { id } = event.data as { id: string };
      await tx.query
        .insertInto("effects" as never)
        .values({ event_id: id } as never)
        .execute();
      return {};
    },
  });

const ignore = () => {};
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const receiver = createReceiver(
  {
    sources: Object.fromEntries(
      names.map((name) => [name, stripe({ secret: STRIPE_SECRET, retry, ...answers[name as keyof typeof answers] })]),
    ),
    handlers: names.map(handlerOf),
    migrations: [EFFECTS],
  },
  { database, variables: { ...VARIABLES, ...FUNCTION_LIMITS }, logger, background: "none" },
);

const print = (seen: unknown) =>
  new Promise<void>((resolve) => process.stdout.write(JSON.stringify(seen), () => resolve()));

if (isWork) {
  await print(await receiver.work({ budgetMs: 2_000 }));
  await receiver.close();
} else {
  const { body, headers } = stripeCallback(
    `evt_${mode}`,
    mode === "refused" ? "whsec_of_somebody_else" : STRIPE_SECRET,
  );
  const request = new Request(`https://app.example/api/${mode}/callback`, { method: "POST", body, headers });
  const response = await receiver.fetch(request);
  // What waited for `flush` is in the callback log; the rest of the process is gone.
  await receiver.flush();
  await print({ status: response.status });
  process.kill(process.pid, "SIGKILL");
}
