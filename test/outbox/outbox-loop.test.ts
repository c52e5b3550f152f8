import { randomBytes } from "node:crypto";
import { describe, it } from "vitest";
import { systemClock } from "../../src/domain/index.ts";
import {
  createAllowedAddresses,
  createOutboxLoop,
  logChannel,
  webhookChannel,
} from "../../src/outbox/index.ts";
import type { Store } from "../../src/store/index.ts";
import { recordedLog } from "../observe/recorded-log.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { withHttpServer } from "../support/http-server.ts";
import { until } from "../support/until.ts";

const NOTIFICATIONS = 20;

function notify(store: Store, count: number): Promise<unknown> {
  const record = { source: "test", eventId: "e1", eventType: "t", version: "v1", bodySha256: "0".repeat(64) };
  return store.once(
    record,
    async ({ enqueue }) => {
      for (let number = 0; number < count; number += 1) await enqueue({ topic: "t", payload: { number } });
      return { result: {} };
    },
    { deadline: performance.now() + 5_000, mode: "commit" },
  );
}

describe.each(DIALECTS)("the outbox on %s", (dialect) => {
  it("does not let a channel whose receiver never answers keep another one waiting", () =>
    withStore(dialect, (store) =>
      withHttpServer(
        () => {},
        async (origin) => {
          await notify(store, NOTIFICATIONS);
          const log = recordedLog();
          const addresses = createAllowedAddresses(["127.0.0.0/8"]);
          const secret = `whsec_${randomBytes(24).toString("base64")}`;
          const loop = createOutboxLoop({
            outbox: store.outbox,
            channels: [webhookChannel({ url: origin, secret, addresses }), logChannel(log)],
            policy: { attempts: 3, firstDelaySeconds: 60 },
            clock: systemClock,
            log: recordedLog(),
            describe: String,
            attempted: () => {},
          });
          loop.start(10);
          await until(() => log.lines.length === NOTIFICATIONS);
          await loop.stop();
        },
      ),
    ));
});
