/**
 * A process of its own with a store on a database that others use too. Arguments: the database's address, what to
 * do, and how many events. `crash-before` and `crash-after` kill the process around the commit of event `e0`.
 */

import { addEffect, committing, EFFECTS, newRecord } from "./effects.ts";
import { runOnce } from "./once.ts";
import { openTarget } from "./open-target.ts";

const [, , url = "", plan = "", count = "1"] = process.argv;
const dialect = url.startsWith("sqlite:") ? "sqlite" : "postgres";
const { store } = await openTarget({ dialect, url }, { migrations: [EFFECTS] });

function crash(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("still alive");
}

const endings: string[] = [];
await Promise.all(
  Array.from({ length: Number(count) }, async (_, index) => {
    const id = `e${index}`;
    const { kind } = await runOnce(
      store,
      newRecord(id),
      async (scope) => {
        const completion = await addEffect(scope, id);
        if (plan === "crash-before") crash();
        return completion;
      },
      committing(20_000),
    );
    if (plan === "crash-after") crash();
    endings.push(kind);
  }),
);
await store.close();
process.stdout.write(JSON.stringify(endings));
