/**
 * A process with handlers whose texts name their author. Arguments: the database's address, a schema, the author, and
 * for how many milliseconds at least. It prints how many events it handled.
 */

import type { OnceScope } from "../../src/store/index.ts";
import { committing, EFFECTS, newRecord } from "./effects.ts";
import { runOnce } from "./once.ts";
import { openTarget } from "./open-target.ts";

const [, , url = "", schema = "", author = "", ms = "0"] = process.argv;
const CONCURRENT = 24;
/** Each way goes over each connection several times, however slow the machine is. */
const FEWEST = 4 * CONCURRENT;
const insert = `INSERT INTO effects (event_id, note) VALUES ($1, '${author}')`;

/** Every way to the database that a handler has. */
const WAYS: ((scope: OnceScope, id: string) => Promise<unknown>)[] = [
  ({ tx }, id) => tx.query.insertInto("effects").values({ event_id: id, note: author }).execute(),
  ({ tx }, id) => tx.execute(insert, [id]),
  async ({ tx }, id) => {
    if (tx.dialect === "postgres") await tx.connection.query({ name: "insert", text: insert, values: [id] });
  },
  async (scope, id) => {
    const { tx } = scope;
    const { rows } = await tx.execute(`SELECT '${author}' AS author, current_schema() AS place`);
    await tx.execute("INSERT INTO effects (event_id, note) VALUES ($1, $2)", [id, rows[0]?.author]);
    await scope.enqueue({ topic: "inserted", payload: { author, place: String(rows[0]?.place) } });
  },
];

const { store } = await openTarget({ dialect: "postgres", url }, { migrations: [EFFECTS], schema });
const end = performance.now() + Number(ms);
let started = 0;
let handled = 0;
async function work(): Promise<void> {
  while (performance.now() < end || started < FEWEST) {
    const id = `${author}-${started}`;
    const way = WAYS[started++ % WAYS.length];
    const record = newRecord(id, { source: author, eventType: `way-${started % WAYS.length}` });
    const run = async (scope: OnceScope) => {
      await way?.(scope, id);
      return { result: { author } };
    };
    const { kind } = await runOnce(store, record, run, committing(20_000));
    if (kind === "completed") handled += 1;
    const found = await store.find(record, performance.now() + 20_000);
    if (found?.result?.author !== author) throw new Error(`${id}: ${JSON.stringify(found)}`);
  }
}
await Promise.all(Array.from({ length: CONCURRENT }, work));
await store.close();
process.stdout.write(String(handled));
