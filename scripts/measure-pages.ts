/**
 * `npm run measure:pages`: how long what the dashboard's pages ask for takes over HTTP, on both databases, with a million rows
 * (`--rows`) in the callback log, each filter of it included, and for how long the event loop is held up. Takes some
 * minutes and some gigabytes in the folder for temporary files. The goal is a p95 under 200 ms for each of them. Then problems are
 * listed, read and muted with a million failures (`--failures`); the goal of their list is 500 ms.
 */
import { parseArgs } from "node:util";
import { createAdminClient } from "../src/admin-client/index.ts";
import type { RunningReceiver } from "../src/app/index.ts";
import type { Target } from "../test/support/open-target.ts";
import { fill, fillFailures } from "./measure/fill.ts";
import { onNewDatabase } from "./measure/on-new-database.ts";
import { head, measureRequests, measureStores } from "./measure/report.ts";
import { type Kind, kindsFor, kindsOfProblems } from "./measure/requests.ts";

const TOKEN = "measure-pages-token";
const GOAL_MS = 200;

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    failures: { type: "string", default: "1000000" },
    requests: { type: "string", default: "60" },
    store: { type: "string", default: "sqlite,postgres" },
  },
});
const [rows, failures, requests] = [Number(values.rows), Number(values.failures), Number(values.requests)];

/** @returns whether each of them met the goal */
function measure(dialect: Target["dialect"], server: string | undefined): Promise<boolean> {
  return onNewDatabase(dialect, server, TOKEN, async ({ target, serve }) => {
    const begun = performance.now();
    await fill(target, rows);
    const seconds = Math.round((performance.now() - begun) / 1_000);
    process.stdout.write(`\n${dialect}: ${rows} rows, filled in ${seconds} s\n\n`);
    const measureWith = async (kinds: readonly Kind[]) => {
      const receiver = await serve();
      return measureAll(receiver, kinds).finally(() => receiver.stop());
    };
    const isGoalMet = await measureWith(kindsFor(rows));
    await fillFailures(target, failures);
    process.stdout.write(`\n${dialect}: ${failures} failures\n\n`);
    return (await measureWith(kindsOfProblems())) && isGoalMet;
  });
}

async function measureAll({ adminOrigin }: RunningReceiver, kinds: readonly Kind[]): Promise<boolean> {
  const client = createAdminClient({ origin: adminOrigin, token: TOKEN });
  head("request");
  let isGoalMet = true;
  for (const kind of kinds) isGoalMet = (await measureKind(client, kind)) && isGoalMet;
  return isGoalMet;
}

async function measureKind(client: ReturnType<typeof createAdminClient>, [name, make, goalMs]: Kind): Promise<boolean> {
  let next = make();
  let cursor: string | null | undefined;
  const ask = async (request: number) => {
    const { items = [], next_cursor } = await next(client, cursor == null ? {} : { cursor });
    // Half of the requests go on where the one before has ended.
    cursor = request % 2 === 0 ? next_cursor : null;
    if (cursor == null) next = make();
    return items.length;
  };
  return (await measureRequests({ name, count: requests, ask })) < (goalMs ?? GOAL_MS);
}

process.exitCode = (await measureStores(values.store, measure)) ? 0 : 1;
