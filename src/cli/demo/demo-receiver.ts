import { randomBytes } from "node:crypto";
import { z } from "zod";
import { createAdminClient } from "../../admin-client/index.ts";
import { type RunningReceiver, start } from "../../app/index.ts";
import { loadConfig } from "../../config/index.ts";
import { defineHandler, type Handler } from "../../handlers/index.ts";
import { createLogger, createMask } from "../../observability/index.ts";

export interface DemoReceiver extends Pick<RunningReceiver, "stop"> {
  readonly url: string;
  readonly secret: string;
  /** Asks the admin API whether the event has a record. */
  readonly isProcessed: (eventId: string) => Promise<boolean>;
}

/** The delay between retries: a minute by default, a second here, to keep the demo short. */
const RETRY_DELAY_SECONDS = "1";
const RETRY_POLL_MS = 200;

/** A real receiver, as `serve` starts it, on a database of its own and any free ports. */
export async function startDemoReceiver(databaseFile: string): Promise<DemoReceiver> {
  const [secret = "", token = "", key = ""] = Array.from({ length: 3 }, () =>
    randomBytes(32).toString("base64"),
  );
  const config = loadConfig({
    APP_ENV: "development",
    DATABASE_URL: `sqlite:${databaseFile}`,
    PORT: "0",
    ADMIN_PORT: "0",
    SIGNING_SECRET: secret,
    ADMIN_TOKEN: token,
    ENCRYPTION_KEY: key,
    // The demo sends more than ten callbacks a minute from one address.
    RATE_LIMIT_DEFAULT: "off",
    RATE_LIMIT_CALLBACK: "off",
    RETRY_DELAY_SECONDS,
    LOG_LEVEL: "silent",
  });
  const logger = createLogger({ level: "silent", mask: createMask({ ...config.mask, secretValues: [] }) });
  const running = await start(config, { handlers: [failsOnce()], logger, retryPollMs: RETRY_POLL_MS });
  const { events } = createAdminClient({ origin: running.adminOrigin, token });
  const isProcessed = async (eventId: string) =>
    (await events.list({ event_id: eventId })).items.length === 1;
  return { url: `${running.publicOrigin}/api/platform/callback`, secret, isProcessed, stop: running.stop };
}

/** A handler of the user's own, whose first attempt fails as if something it needs were down. */
function failsOnce(): Handler {
  let attempts = 0;
  return defineHandler({
    type: "parcel_shipped",
    data: z.object({ parcel_id: z.string() }),
    handle({ event }) {
      attempts += 1;
      if (attempts === 1) throw new Error("the warehouse does not answer");
      return { parcel_id: event.data.parcel_id };
    },
  });
}
