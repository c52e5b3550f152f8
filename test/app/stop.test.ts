import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { systemClock } from "../../src/system/index.ts";
import { createRetentionSweep, startRetentionJob } from "../../src/upkeep/retention.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { withMigrated, withStore } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";
import { logRow } from "../support/log-row.ts";
import { event, startReceiver } from "../support/receiver.ts";

const POLL_MS = 2;

it("a stop ends a sweep of the retention job after the step under way", () =>
  withStore("sqlite", async (store, target) => {
    await store.appendCallbacks(Array.from({ length: 2_500 }, () => logRow()));
    const limits = { logDays: 1, recordDays: null, refusedBytes: 1_048_576, originalsMs: 0 };
    const log = recordedLog();
    const sweep = createRetentionSweep(store, limits, { clock: systemClock, log, sourcesByName: new Map() }, null);
    await startRetentionJob(sweep, log).stop();
    expect(await countOf(target, "oncehook_callbacks")).toBe(1_500);
  }));

it("a stop lets no poller begin a retry while the public listener drains", () =>
  withMigrated("sqlite", async (target) => {
    const time = { ms: Date.now() };
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const attempts: string[] = [];
    const failing = defineHandler({
      type: "failing",
      data: z.object({}),
      handle({ attempt }) {
        attempts.push(attempt);
        throw new Error("the stock service is down");
      },
    });
    // Outside the transaction: on SQLite a handler keeps the one writer from the poller.
    const slow = defineHandler({
      type: "slow",
      data: z.object({}),
      async prepare() {
        begun.resolve();
        await gate.promise;
        return null;
      },
      handle: () => ({}),
    });
    const clock = { now: () => new Date(time.ms) };
    const receiver = await startReceiver(target, { handlers: [failing, slow], clock, retryPollMs: POLL_MS });
    try {
      expect((await receiver.send(event("failing", {}))).status).toBe(500);
      const draining = receiver.send(event("slow", {}));
      await begun.promise;
      const stopped = receiver.stop();
      // The retry is due, and a poller that goes on looks for it many times.
      time.ms += 120_000;
      await sleep(50 * POLL_MS);
      gate.resolve();
      expect((await draining).status).toBe(200);
      await stopped;
      expect(attempts).toEqual(["inline"]);
    } finally {
      gate.resolve();
      await receiver.stop();
    }
  }));
