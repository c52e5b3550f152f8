/**
 * A receiver in a process of its own that works on bulk replays, on a database that others use too. Arguments: the
 * database's address, by how many seconds its clock is ahead, after how many runs of the handler it kills itself (0: never),
 * or in the run of which event, and whether before that one's commit or at the line that logs its end. Each run of the
 * handler that commits leaves a row in `effects`.
 */
import { z } from "zod";
import { start } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { defineHandler } from "../../src/index.ts";
import { createLogger, createMask } from "../../src/observability/index.ts";
import { systemClock } from "../../src/system/index.ts";
import { EFFECTS } from "./effects.ts";
import { CHILD_ENVIRONMENT } from "./secrets.ts";

const [, , url = "", ahead = "0", dies = "0", when = "before"] = process.argv;
const NEVER = 3_600_000;
const config = loadConfig({ ...CHILD_ENVIRONMENT, PORT: "0", ADMIN_PORT: "0", DATABASE_URL: url });
let runs = 0;
let last = "";

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("still alive");
}

/** Only the end of a replay comes after its commit for certain: a time after the run may be too short. */
const destination = {
  write(line: string) {
    const { event_id, end } = JSON.parse(line);
    if (event_id === last && end !== undefined) die();
  },
};
const logger = createLogger({ level: "debug", mask: createMask({}), destination });

const handler = defineHandler({
  type: "unreliable",
  data: z.object({}),
  async handle({ event, tx }) {
    runs += 1;
    const isLast = runs === Number(dies) || event.event_id === dies;
    await tx.query.insertInto("effects").values({ event_id: event.event_id }).execute();
    if (isLast) {
      if (when === "before") die();
      last = event.event_id;
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
