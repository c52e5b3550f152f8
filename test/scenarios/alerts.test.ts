import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { DAY, HOUR, SLOT_MS, slotOf, WEEK } from "../../src/alerts/policy.ts";
import { keyStamp } from "../../src/app/open-store.ts";
import { defineHandler } from "../../src/index.ts";
import type { Alerts } from "../../src/store/index.ts";
import { DIALECTS, openTarget, type Target, withDatabase } from "../support/databases.ts";
import { countOf, rowsOf } from "../support/effects.ts";
import { WEBHOOK_SECRET, withWebhookReceiver } from "../support/notified.ts";
import {
  event,
  payment,
  type ReceiverOptions,
  startReceiver,
  type TestReceiver,
  testConfig,
} from "../support/receiver.ts";
import { until } from "../support/until.ts";

const POLL = 20;
const WRONG = "another-signing-secret-of-32-bytes";
const SLOW = 120_000;

const failing = defineHandler({
  type: "failing",
  data: z.object({}),
  async handle() {
    throw new Error("this handler always fails");
  },
});

/** Receivers on one database that judge all the time. */
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

/** Writes a history as other processes have left it. */
async function remember(target: Target, write: (alerts: Alerts) => Promise<void>): Promise<void> {
  const keys = keyStamp(testConfig(target));
  const { store } = await openTarget(target, { stamp: { environment: "test", keys } });
  try {
    await write(store.alerts);
  } finally {
    await store.close();
  }
}

/** Resolves when every process has judged several times more. */
async function judgedAgain(target: Target): Promise<void> {
  const turn = async () =>
    Number((await rowsOf(target, "SELECT next_at_ms FROM oncehook_alert_turns"))[0]?.next_at_ms);
  const seen = new Set<number>();
  await until(async () => seen.add(await turn()).size > 5, SLOW);
}

const topicsIn = ({ lines }: TestReceiver) =>
  lines.filter(({ msg }) => msg === "notification").map(({ topic }) => String(topic));
/** Without what handlers send. */
const alertsIn = (receiver: TestReceiver) => topicsIn(receiver).filter((topic) => topic.startsWith("alert."));

describe.each(DIALECTS)("alerts on %s", (dialect) => {
  const processes = dialect === "postgres" ? 3 : 1;

  it(
    "tell the webhook once of a failure that is exhausted, and once when it is gone, whatever the number of processes",
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
            await judgedAgain(target);
            expect(types()).toEqual(["alert.failure_exhausted"]);
            expect(webhook.accepted[0]?.body.data).toMatchObject({
              state: "started",
              source: "platform",
              event_type: "failing",
              count: 1,
              see: "docs/alerts.md#alertfailure_exhausted",
            });
            const path = `/api/v1/failures/platform/${sent.event_id}`;
            expect((await receiver!.admin(path, { method: "DELETE" })).status).toBeLessThan(300);
            await until(() => types().length > 1, SLOW);
            await judgedAgain(target);
            expect(types()).toEqual(["alert.failure_exhausted", "alert.failure_exhausted.over"]);
          });
          await rm(folder, { recursive: true });
        }),
      ),
    SLOW,
  );

  it(
    "tell when callbacks that were authentic before are answered 401, and when authentic ones come again",
    () =>
      withDatabase(dialect, async (target) => {
        const time = { ahead: 0 };
        const clock = { now: () => new Date(Date.now() + time.ahead) };
        const now = slotOf(clock.now());
        await remember(target, async (alerts) => {
          for (let slot = now - WEEK - 20; slot <= now - WEEK + 2; slot += 1) {
            await alerts.addArrivals(slot, [{ source: "platform", subject: "authentic", count: 20 }]);
          }
        });
        const env = { ALERTS: "signatures" };
        await withReceivers(target, 1, { env, clock }, async ([receiver]) => {
          const refused = Array.from({ length: 45 }, () => receiver!.send(payment(), { secret: WRONG }));
          expect((await Promise.all(refused)).map(({ status }) => status)).toEqual(Array(45).fill(401));
          await until(() => alertsIn(receiver!).length > 0, SLOW);
          expect(alertsIn(receiver!)).toEqual(["alert.signatures_failing"]);
          time.ahead = 3 * SLOT_MS;
          await Promise.all(Array.from({ length: 5 }, () => receiver!.send(payment())));
          await until(() => alertsIn(receiver!).length > 1, SLOW);
          await judgedAgain(target);
          expect(alertsIn(receiver!)).toEqual(["alert.signatures_failing", "alert.signatures_failing.over"]);
        });
      }),
    SLOW,
  );

  it(
    "tell when an event type falls silent where it is usual, and when it comes again",
    () =>
      withDatabase(dialect, async (target) => {
        const now = slotOf(new Date());
        const type = { source: "platform", subject: "type:payment_notify" };
        await remember(target, async (alerts) => {
          await alerts.addArrivals(now - 4 * WEEK, [{ ...type, count: 1 }]);
          for (const week of [0, 1, 2, 3]) {
            const end = now - week * WEEK + (week === 0 ? -8 : HOUR + 2);
            for (let slot = now - week * WEEK - 3 * HOUR; slot < end; slot += 1) {
              await alerts.addArrivals(slot, [{ ...type, count: 5 }]);
            }
          }
          for (let slot = now - HOUR; slot < now; slot += 1) {
            await alerts.addArrivals(slot, [{ source: "", subject: "serving", count: 1 }]);
          }
        });
        await withReceivers(target, 1, { env: { ALERTS: "silence" } }, async ([receiver]) => {
          await until(() => alertsIn(receiver!).length > 0, SLOW);
          const line = receiver!.lines.find(({ topic }) => topic === "alert.silent");
          expect(line).toMatchObject({ payload: { source: "platform", event_type: "payment_notify" } });
          expect((await receiver!.send(payment())).status).toBe(200);
          await until(() => alertsIn(receiver!).length > 1, SLOW);
          await judgedAgain(target);
          expect(alertsIn(receiver!)).toEqual(["alert.silent", "alert.silent.over"]);
        });
      }),
    SLOW,
  );

  it(
    "count in the background what came, by source and type, to the last callback before a stop",
    () =>
      withDatabase(dialect, async (target) => {
        const receiver = await startReceiver(target, { env: { ALERTS: "signatures" } });
        const first = payment();
        await receiver.send(first);
        await receiver.send(first);
        await receiver.send(event("made_up", {}));
        await receiver.send(payment(), { secret: WRONG });
        expect(await receiver.count("oncehook_arrivals")).toBe(0);
        await receiver.stop();
        const rows = await rowsOf(
          target,
          "SELECT source, subject, count FROM oncehook_arrivals ORDER BY subject",
        );
        expect(rows.map(({ source, subject, count }) => [source, subject, Number(count)])).toEqual([
          ["platform", "authentic", 3],
          ["platform", "refused", 1],
          [
            "platform",
            "type:payment_notify",
            expect.toSatisfy((count: number) => count === 1 || count === 2),
          ],
        ]);
      }),
    SLOW,
  );

  it("that are off write nothing and judge nothing", () =>
    withDatabase(dialect, async (target) => {
      await withReceivers(target, 1, { env: { RETRY_MAX: "0" }, handlers: [failing] }, async ([receiver]) => {
        await receiver!.send(event("failing", {}));
        await receiver!.send(payment());
        await until(() => topicsIn(receiver!).includes("order.paid"));
      });
      for (const table of ["oncehook_arrivals", "oncehook_alerts", "oncehook_alert_turns"]) {
        expect(await countOf(target, table)).toBe(0);
      }
    }));
});

describe("the history that alerts are judged by", () => {
  it("is in slots that a day and a week hold without a rest", () => {
    expect([SLOT_MS * DAY, SLOT_MS * WEEK]).toEqual([86_400_000, 7 * 86_400_000]);
  });
});
