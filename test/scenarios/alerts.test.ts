import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { keyStamp } from "../../src/configured/database.ts";
import { defineHandler } from "../../src/index.ts";
import { token } from "../../src/sources/platforms/index.ts";
import type { Store } from "../../src/store/index.ts";
import { describeFullOnPostgres, fullOnPostgres, openTarget, type Target, withDatabase } from "../support/databases.ts";
import { countOf, rowsOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { WEBHOOK_SECRET, withWebhookReceiver } from "../support/notified.ts";
import {
  event,
  payment,
  type ReceiverOptions,
  startReceiver,
  type TestReceiver,
  testConfig,
} from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

const POLL = 20;
const WRONG = "another-signing-secret-of-32-bytes";
const SLOW = 120_000;
const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const DAY_MS = 86_400_000;

const failing = defineHandler({
  type: "failing",
  data: z.object({}),
  async handle() {
    throw new Error("this handler always fails");
  },
});

const SHOP = { secret: "the token of the shop", header: "X-Token", id: "body.id", type: "body.type" };

/** Receivers on one database that evaluate alerts all the time. */
async function withReceivers(
  target: Target,
  count: number,
  options: ReceiverOptions,
  use: (receivers: readonly TestReceiver[]) => Promise<void>,
): Promise<void> {
  const receivers: TestReceiver[] = [];
  try {
    for (let number = 0; number < count; number += 1) {
      receivers.push(await startReceiver(target, { alertPollMs: POLL, outboxPollMs: POLL, ...options }));
    }
    await use(receivers);
  } finally {
    await Promise.all(receivers.map((receiver) => receiver.stop()));
  }
}

/** Writes what other processes stored earlier. */
async function remember(target: Target, write: (store: Store) => Promise<void>): Promise<void> {
  const keys = keyStamp(testConfig(target));
  const { store } = await openTarget(target, { stamp: { environment: "test", keys } });
  try {
    await write(store);
  } finally {
    await store.close();
  }
}

/** Resolves after several more evaluations. */
async function evaluatedAgain(target: Target): Promise<void> {
  const turn = async () =>
    Number((await rowsOf(target, "SELECT max(next_at_ms) AS next_at_ms FROM oncehook_alert_turns"))[0]?.next_at_ms);
  const seen = new Set<number>();
  await until(async () => seen.add(await turn()).size > 5, SLOW);
}

/** How many callbacks with an outcome the overview has counted. */
const counted = async (target: Target, outcome: string) => {
  const where = `step_seconds = 900 AND outcome = '${outcome}'`;
  const [row] = await rowsOf(target, `SELECT sum(count) AS count FROM oncehook_rollups WHERE ${where}`);
  return Number(row?.count ?? 0);
};

const topicsIn = ({ lines }: TestReceiver) =>
  lines.filter(({ msg }) => msg === "notification").map(({ topic }) => String(topic));
/** The topics of alerts, without those that handlers send. */
const alertsIn = (receiver: TestReceiver) => topicsIn(receiver).filter((topic) => topic.startsWith("alert."));

describeFullOnPostgres("alerts on %s", (dialect) => {
  const processes = dialect === "postgres" ? 3 : 1;

  it(
    "the webhook gets one alert for exhausted failures and one for their end, for any number of processes",
    { tags: fullOnPostgres(dialect), timeout: SLOW },
    () =>
      withDatabase(dialect, (target) =>
        withWebhookReceiver(async (webhook) => {
          const folder = await mkdtemp(join(tmpdir(), "oncehook-alerts-"));
          const ca = join(folder, "ca.pem");
          await writeFile(ca, webhook.ca);
          const env = {
            NOTIFY_WEBHOOK_URL: webhook.url,
            NOTIFY_WEBHOOK_SECRET: WEBHOOK_SECRET,
            NOTIFY_ALLOW_ADDRESSES: "127.0.0.0/8",
            NOTIFY_CA_FILE: ca,
            RETRY_MAX: "0",
          };
          const types = () => webhook.accepted.map(({ body }) => body.type);
          const sent = event("failing", {});
          await withReceivers(target, processes, { env, handlers: [failing] }, async ([receiver]) => {
            expect((await receiver!.send(sent)).status).toBe(500);
            await until(() => types().length > 0, SLOW);
            await evaluatedAgain(target);
            expect(types()).toEqual(["alert.failure_exhausted"]);
            expect(webhook.accepted[0]?.body.data).toMatchObject({
              state: "started",
              source: "platform",
              event_type: "failing",
              count: 1,
              see: "docs/monitoring.md#alertfailure_exhausted",
            });
            const path = `/api/v1/failures/platform/${sent.event_id}`;
            expect((await receiver!.admin(path, { method: "DELETE" })).status).toBeLessThan(300);
            await until(() => types().length > 1, SLOW);
            await evaluatedAgain(target);
            expect(types()).toEqual(["alert.failure_exhausted", "alert.failure_exhausted.resolved"]);
          });
          await rm(folder, { recursive: true });
        }),
      ),
  );

  it(
    "the log gets one alert when an accepted event waits for too long, and one when it was handled",
    { timeout: SLOW },
    () =>
      withDatabase(dialect, async (target) => {
        const time = { ahead: 0 };
        const clock = { now: () => new Date(Date.now() + time.ahead) };
        const gate = Promise.withResolvers<void>();
        const slow = defineHandler({
          source: "shop",
          type: "order",
          data: z.object({}),
          prepare: () => gate.promise.then(() => null),
          handle: () => ({}),
        });
        const sources = { shop: token({ ...SHOP, answer: "after" }) };
        const env = { ALERTS: "accepted", ALERT_ACCEPTED_SECONDS: "600" };
        const options = { env, clock, sources, handlers: [slow] };
        await withReceivers(target, processes, options, async (receivers) => {
          const all = () => receivers.flatMap(alertsIn);
          const response = await fetch(`${receivers[0]!.publicOrigin}/api/shop/callback`, {
            method: "POST",
            headers: { "X-Token": SHOP.secret },
            body: JSON.stringify({ id: "e1", type: "order" }),
          });
          expect(await response.json()).toEqual({ status: "accepted" });
          // The machine's own time passes as well.
          time.ahead += 9 * MINUTE_MS;
          await evaluatedAgain(target);
          expect(all()).toEqual([]);
          time.ahead += 2 * MINUTE_MS;
          await until(() => all().length > 0, SLOW);
          time.ahead += 60 * MINUTE_MS;
          await evaluatedAgain(target);
          expect(all()).toEqual(["alert.accepted_too_old"]);
          gate.resolve();
          await until(() => all().length > 1, SLOW);
          await evaluatedAgain(target);
          // Any of the processes may deliver either of them.
          expect(all().toSorted()).toEqual(["alert.accepted_too_old", "alert.accepted_too_old.resolved"]);
        });
      }),
  );

  it(
    "the webhook gets one alert for failing signatures and one when authentic callbacks arrive again",
    { tags: fullOnPostgres(dialect), timeout: SLOW },
    () =>
      withDatabase(dialect, async (target) => {
        const time = { ahead: 0 };
        const clock = { now: () => new Date(Date.now() + time.ahead) };
        const weekAgo = Date.now() - 7 * DAY_MS;
        await remember(target, async ({ rollups }) => {
          const authentic = { source: "platform", outcome: "success", bucket: 1 };
          await rollups.add(new Date(weekAgo - DAY_MS), [{ ...authentic, count: 1 }]);
          await rollups.add(new Date(weekAgo), [{ ...authentic, count: 40 }]);
        });
        const options = { env: { ALERTS: "signatures" }, clock, rollupPollMs: POLL };
        await withReceivers(target, 1, options, async ([receiver]) => {
          const refused = Array.from({ length: 12 }, () => receiver!.send(payment(), { secret: WRONG }));
          expect((await Promise.all(refused)).map(({ status }) => status)).toEqual(Array(12).fill(401));
          await until(async () => (await counted(target, "signature_mismatch")) === 12, SLOW);
          time.ahead += QUARTER_MS + MINUTE_MS;
          await until(() => alertsIn(receiver!).length > 0, SLOW);
          expect(alertsIn(receiver!)).toEqual(["alert.signatures_failing"]);
          time.ahead += QUARTER_MS;
          await Promise.all(Array.from({ length: 5 }, () => receiver!.send(payment())));
          await until(async () => (await counted(target, "success")) === 41 + 5, SLOW);
          time.ahead += QUARTER_MS + MINUTE_MS;
          await until(() => alertsIn(receiver!).length > 1, SLOW);
          expect(alertsIn(receiver!)).toEqual(["alert.signatures_failing", "alert.signatures_failing.resolved"]);
        });
      }),
  );

  it(
    "the webhook gets one alert for a silent event type and one when it arrives again",
    { tags: fullOnPostgres(dialect), timeout: SLOW },
    () =>
      withDatabase(dialect, async (target) => {
        const now = Date.now();
        await remember(target, async ({ alerts }) => {
          for (let days = 14; days >= 5; days -= 1) {
            const at = new Date(now - days * DAY_MS);
            await alerts.addArrivals(at, [{ source: "platform", eventType: "payment_notify", count: 5 }]);
          }
        });
        const since = now - 30 * DAY_MS;
        await execute(target, `INSERT INTO oncehook_alert_turns VALUES ('silence', ${now}, ${since})`);
        await withReceivers(target, processes, { env: { ALERTS: "silence" } }, async (receivers) => {
          const all = () => receivers.flatMap(alertsIn);
          await until(() => all().length > 0, SLOW);
          expect(all()).toEqual(["alert.silent"]);
          const line = receivers.flatMap(({ lines }) => lines).find(({ topic }) => topic === "alert.silent");
          expect(line).toMatchObject({ payload: { source: "platform", event_type: "payment_notify" } });
          expect((await receivers[0]!.send(payment())).status).toBe(200);
          await until(() => all().length > 1, SLOW);
          await evaluatedAgain(target);
          // Any of the processes may deliver either of them.
          expect(all().toSorted()).toEqual(["alert.silent", "alert.silent.resolved"]);
        });
      }),
  );

  it("alerts count the callbacks of each event type in the background, accepted ones too, to the last one before a stop", () =>
    withDatabase(dialect, async (target) => {
      const order = { source: "shop", type: "order", data: z.object({}), handle: () => ({}) };
      const receiver = await startReceiver(target, {
        env: { ALERTS: "silence" },
        sources: { shop: shop({ answer: "after" }) },
        handlers: [defineHandler(order)],
      });
      expect((await deliverToShop(receiver, { id: "e1" })).body.status).toBe("accepted");
      await receiver.send(payment());
      await receiver.send(payment());
      await receiver.send(event("made_up", {}));
      await receiver.send(payment(), { secret: WRONG });
      expect(await receiver.count("oncehook_arrival_days")).toBe(0);
      await receiver.stop();
      const rows = await rowsOf(target, "SELECT source, event_type, count FROM oncehook_arrival_days ORDER BY source");
      expect(rows.map(({ source, event_type, count }) => [source, event_type, Number(count)])).toEqual([
        ["platform", "payment_notify", 2],
        ["shop", "order", 1],
      ]);
    }));

  it("alerts write and evaluate nothing when they are off", () =>
    withDatabase(dialect, async (target) => {
      await withReceivers(target, 1, { env: { RETRY_MAX: "0" }, handlers: [failing] }, async ([receiver]) => {
        await receiver!.send(event("failing", {}));
        await receiver!.send(payment());
        await until(() => topicsIn(receiver!).includes("order.paid"));
      });
      for (const table of ["oncehook_arrival_days", "oncehook_alerts", "oncehook_alert_turns"]) {
        expect(await countOf(target, table)).toBe(0);
      }
    }));
});
