/**
 * A receiver that accepts the event `e1` of its shop with `within`, and whose process is killed in the event's handler. Argument:
 * the database's address. It writes the status of the response.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { start } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { defineHandler } from "../../src/index.ts";
import { capturedLog } from "../../src/testing/captured-log.ts";
import { CHILD_ENVIRONMENT } from "./secrets.ts";
import { deliverToShop, shop } from "./shop-source.ts";

const [, , url = ""] = process.argv;
const config = loadConfig(
  { ...CHILD_ENVIRONMENT, PORT: "0", ADMIN_PORT: "0", DATABASE_URL: url },
  { sources: { shop: shop({ answer: { within: "50ms" } }) } },
);
const { promise: isAnswered, resolve: answered } = Promise.withResolvers<void>();
const handler = defineHandler({
  ...{ source: "shop", type: "order", data: z.object({}) },
  async prepare() {
    await isAnswered;
    return null;
  },
  async handle() {
    process.kill(process.pid, "SIGKILL");
    await sleep(60_000);
    return {};
  },
});
const receiver = await start(config, { handlers: [handler], logger: capturedLog(config).logger });
const { body } = await deliverToShop(receiver, { id: "e1" });
process.stdout.write(String(body.status), () => answered());
