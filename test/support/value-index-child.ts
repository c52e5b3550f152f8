/**
 * A receiver in a process of its own that builds the index of values of a database that is filled already. Arguments: the
 * database's address, and by how many seconds its clock is ahead.
 */
import { start } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { systemClock } from "../../src/system/index.ts";
import { capturedLog } from "../../src/testing/captured-log.ts";
import { CHILD_ENVIRONMENT } from "./secrets.ts";

const [, , url = "", ahead = "0"] = process.argv;
const NEVER = 3_600_000;
const config = loadConfig({ ...CHILD_ENVIRONMENT, PORT: "0", ADMIN_PORT: "0", DATABASE_URL: url });

await start(config, {
  clock: { now: () => new Date(systemClock.now().getTime() + Number(ahead) * 1_000) },
  logger: capturedLog(config).logger,
  upkeepPollMs: 20,
  retryPollMs: NEVER,
  outboxPollMs: NEVER,
  refreshPollMs: NEVER,
  alertPollMs: NEVER,
});
process.stdout.write("ready\n");
