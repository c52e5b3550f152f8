/**
 * A receiver in a process of its own that works on bulk replays, on a database that others use too. Arguments: the
 * database's address, by how many seconds its clock is ahead, after how many runs of the handler it kills itself (0: never),
 * or in the run of which event, and whether before or after the commit of that one. Each run of the handler that commits leaves a row in `effects`.
 */
import { z } from "zod";
import { start } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { defineHandler } from "../../src/index.ts";
import { systemClock } from "../../src/system/index.ts";
import { capturedLog } from "../../src/testing/captured-log.ts";
import { EFFECTS } from "./effects.ts";
import { CHILD_ENVIRONMENT } from "./secrets.ts";

const [, , url = "", ahead = "0", dies = "0", when = "before"] = process.argv;
const NEVER = 3_600_000;
const config = loadConfig({ ...CHILD_ENVIRONMENT, PORT: "0", ADMIN_PORT: "0", DATABASE_URL: url });
const { logger } = capturedLog(config);
let runs = 0;

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("still alive");
}

const handler = defineHandler({
  type: "unreliable",
  data: z.object({}),
  async handle({ event, tx }) {
    runs += 1;
    const isLast = runs === Number(dies) || event.event_id === dies;
    await tx.query.insertInto("effects").values({ event_id: event.event_id }).execute();
    if (isLast) {
      if (when === "before") die();
      // Until this one, and whatever shares its transaction, has been committed.
      setTimeout(die, 5);
    }
    return {};
  },
});

await start(config, {
  handlers: [handler],
  migrations: [EFFECTS],
  clock: { now: () => new Date(systemClock.now().getTime() + Number(ahead) * 1_000) },
  logger,
  retryPollMs: NEVER,
  outboxPollMs: NEVER,
  refreshPollMs: NEVER,
  alertPollMs: NEVER,
  bulkPollMs: 20,
});
process.stdout.write("ready\n");
