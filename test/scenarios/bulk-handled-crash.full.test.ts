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
  [2, "before"],
] as const;
const handlers = [
  defineHandler({
    type: "unreliable",
    data: z.object({}),
    async handle({ event: { event_id }, tx }) {
      await tx.query.insertInto("effects").values({ event_id }).execute();
      return { before: true };
    },
  }),
];
const OPTIONS: ReceiverOptions = {
  handlers,
  migrations: [EFFECTS],
  env: { ...CHILD_ENVIRONMENT, PORT: "0", ADMIN_PORT: "0" },
};

async function startBulk(receiver: TestReceiver): Promise<BulkReplayView> {
  const { body } = await receiver.admin("/api/v1/bulk-replays", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ scope: "events", filter: { source: "platform" }, reason: "mended", per_second: 100 }),
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

describe.each(DIALECTS)("a bulk replay of handled events on %s whose processes are killed", (dialect) => {
  it(
    "it comes to its end, and each event has its effect once more, beside redeliveries of the same events",
    {
      timeout: 240_000,
    },
    () =>
      withDatabase(dialect, async (target) => {
        const receiver = await startReceiver(target, OPTIONS);
        const sent = Array.from({ length: EVENTS }, () => event("unreliable", {}));
        for (const one of sent) expect((await receiver.send(one)).status).toBe(200);
        const { id, total } = await startBulk(receiver);
        expect(total).toBe(EVENTS);
        const child = (...args: string[]) => startChild("test/support/bulk-child.ts", [target.url, ...args]);
        for (const [index, [runs, when]] of DEATHS.entries()) {
          const dying = child(String(index * STEP_SECONDS), String(runs), when);
          const redelivered = Promise.all(sent.slice(0, 10).map((one) => receiver.send(one)));
          await overIn(dying, () => dying.signalCode === "SIGKILL");
          for (const { body } of await redelivered) expect(body.status).toBe("already_processed");
        }
        const look = async () => (await receiver.admin(`/api/v1/bulk-replays/${id}`)).body;
        expect((await look()).state).toBe("running");
        await overIn(child(String(DEATHS.length * STEP_SECONDS)), async () => (await look()).state === "done");
        expect(await look()).toMatchObject({
          state: "done",
          total: EVENTS,
          done: EVENTS,
          succeeded: EVENTS,
          failed: 0,
        });
        const effects = await rowsOf(target, "SELECT event_id, count(*) AS n FROM effects GROUP BY event_id");
        expect(effects.map(({ n }) => Number(n))).toEqual(Array.from({ length: EVENTS }, () => 2));
        expect(await countOf(target, "oncehook_event_replays")).toBe(EVENTS);
        expect(await countOf(target, "oncehook_records", "result = '{}'")).toBe(EVENTS);
        await receiver.stop();
      }),
  );

  it(
    "an event that ends the process each time is noted after three, and the others are run",
    { timeout: 240_000 },
    () =>
      withDatabase(dialect, async (target) => {
        const receiver = await startReceiver(target, OPTIONS);
        const sent = Array.from({ length: 6 }, () => event("unreliable", {}));
        for (const one of sent) expect((await receiver.send(one)).status).toBe(200);
        const { id } = await startBulk(receiver);
        const look = async () => (await receiver.admin(`/api/v1/bulk-replays/${id}`)).body;
        const poison = sent[1]?.event_id ?? "";
        for (let index = 0; index < 4; index += 1) {
          const dying = startChild("test/support/bulk-child.ts", [
            target.url,
            String(index * STEP_SECONDS),
            poison,
            "before",
          ]);
          await overIn(dying, () => dying.signalCode === "SIGKILL");
        }
        const last = startChild("test/support/bulk-child.ts", [target.url, String(4 * STEP_SECONDS), poison, "before"]);
        await overIn(last, async () => (await look()).state === "done");
        expect(await look()).toMatchObject({ succeeded: 5, failed: 1, skipped: 0 });
        const { items } = (await receiver.admin(`/api/v1/bulk-replays/${id}/events`)).body;
        expect(items).toMatchObject([{ event_id: poison, code: "process_ended", kind: "failed" }]);
        await receiver.stop();
      }),
  );
});
