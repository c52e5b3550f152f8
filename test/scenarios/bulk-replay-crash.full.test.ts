import type { ChildProcess } from "node:child_process";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { BulkReplayView } from "../../src/admin-client/index.ts";
import { defineHandler } from "../../src/index.ts";
import { ended, startChild } from "../support/child.ts";
import { DIALECTS, withDatabase } from "../support/databases.ts";
import { countOf, EFFECTS, rowsOf } from "../support/effects.ts";
import { event, type ReceiverOptions, startReceiver, type TestReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";
import { until } from "../support/until.ts";

const EVENTS = 40;
/** Longer than any lease of the one before. */
const STEP_SECONDS = 600;
const DEATHS = [
  [3, "before"],
  [9, "after"],
  [1, "after"],
  [7, "before"],
] as const;
const down = [
  defineHandler({
    type: "unreliable",
    data: z.object({}),
    handle() {
      throw new Error("down");
    },
  }),
];
const OPTIONS: ReceiverOptions = {
  handlers: down,
  migrations: [EFFECTS],
  env: { ...CHILD_ENVIRONMENT, PORT: "0", ADMIN_PORT: "0", RETRY_MAX: "0" },
};

async function startBulk(receiver: TestReceiver): Promise<BulkReplayView> {
  const { body } = await receiver.admin("/api/v1/bulk-replays", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ filter: { state: "exhausted" }, per_second: 100 }),
  });
  return body as unknown as BulkReplayView;
}

/** Waits for what a process brings about, and leaves no process behind. */
async function overIn(child: ChildProcess, came: () => boolean | Promise<boolean>): Promise<void> {
  const end = ended(child);
  try {
    await until(came, 60_000);
  } finally {
    child.kill("SIGKILL");
    await end;
  }
}

describe.each(DIALECTS)("a bulk replay on %s whose processes are killed", (dialect) => {
  it("a bulk replay comes to its end, with exactly one effect of every event", { timeout: 240_000 }, () =>
    withDatabase(dialect, async (target) => {
      const receiver = await startReceiver(target, OPTIONS);
      for (let index = 0; index < EVENTS; index += 1) {
        expect((await receiver.send(event("unreliable", {}))).status).toBe(500);
      }
      const { id, total } = await startBulk(receiver);
      expect(total).toBe(EVENTS);
      const child = (...args: string[]) => startChild("test/support/bulk-child.ts", [target.url, ...args]);
      for (const [index, [runs, when]] of DEATHS.entries()) {
        const dying = child(String(index * STEP_SECONDS), String(runs), when);
        await overIn(dying, () => dying.signalCode === "SIGKILL");
      }
      const state = async () => (await receiver.admin(`/api/v1/bulk-replays/${id}`)).body.state;
      expect(await state()).toBe("running");
      await overIn(child(String(DEATHS.length * STEP_SECONDS)), async () => (await state()) === "done");
      const { body } = await receiver.admin(`/api/v1/bulk-replays/${id}`);
      expect(body).toMatchObject({ state: "done", total: EVENTS, done: EVENTS, failed: 0 });
      // What a process that died had replayed and not yet counted is found to be gone.
      expect(body.already_handled).toBeLessThanOrEqual(DEATHS.length * 8);
      const effects = await rowsOf(target, "SELECT event_id, count(*) AS n FROM effects GROUP BY event_id");
      expect(effects.map(({ n }) => Number(n))).toEqual(Array.from({ length: EVENTS }, () => 1));
      expect(await countOf(target, "oncehook_records")).toBe(EVENTS);
      expect(await countOf(target, "oncehook_failures")).toBe(0);
      await receiver.stop();
    }),
  );
});
