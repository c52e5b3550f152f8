/**
 * A receiver in a process of its own, whose handler of orders was added after its database was filled. Arguments: the
 * database's address. It prints its public address. Each run of the handler that commits leaves a row in `effects`.
 */
import { z } from "zod";
import { start } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { defineHandler } from "../../src/index.ts";
import { capturedLog } from "../../src/testing/captured-log.ts";
import { EFFECTS } from "./effects.ts";
import { KILLED_BACKFILL } from "./killed-backfill.ts";
import { shop } from "./shop-source.ts";

const [, , url = ""] = process.argv;
const NEVER = 3_600_000;
const config = loadConfig({ ...KILLED_BACKFILL, DATABASE_URL: url }, { sources: { shop: shop() } });
const { logger } = capturedLog(config);
const handler = defineHandler({
  source: "shop",
  type: "order",
  data: z.looseObject({}),
  async handle({ event, tx }) {
    await tx.query.insertInto("effects").values({ event_id: event.event_id }).execute();
    return {};
  },
});

const receiver = await start(config, {
  handlers: [handler],
  migrations: [EFFECTS],
  logger,
  retryPollMs: 20,
  backfillPollMs: 20,
  outboxPollMs: NEVER,
  refreshPollMs: NEVER,
  alertPollMs: NEVER,
});
process.stdout.write(`${receiver.publicOrigin}\n`);
