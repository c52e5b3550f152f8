import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import type { Ended } from "../support/child.ts";
import { runCommandLine } from "../support/command.ts";
import { event, payment, type TestReceiver, TOKEN, withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

const plan = { broken: (_: string): boolean => true };
const order = defineHandler({
  type: "order",
  data: z.object({}),
  handle({ event: { event_id } }) {
    if (plan.broken(event_id)) throw new Error(`no row for ${event_id}`);
    return Promise.resolve({});
  },
});

type Run = (...args: string[]) => Promise<Ended>;

function withProblem(use: (run: Run, receiver: TestReceiver) => Promise<void>): Promise<void> {
  return withReceiver(
    "sqlite",
    async (receiver) => {
      plan.broken = () => true;
      for (const id of ["evt_1", "evt_2", "evt_3"]) await receiver.send(event("order", {}, { event_id: id }));
      const env = { ...CHILD_ENVIRONMENT, ADMIN_TOKEN: TOKEN, ADMIN_PORT: new URL(receiver.adminOrigin).port };
      await use((...args) => runCommandLine(args, env), receiver);
    },
    { handlers: [order], bulkPollMs: 20, env: { RETRY_MAX: "0" } },
  );
}

it(
  "oncehook problems lists causes and exits 1 where one is open, and 0 once a replay has mended it",
  { tags: "full" },
  () =>
    withProblem(async (run) => {
      const listed = await run("problems");
      expect(listed.code).toBe(1);
      const row =
        /^([0-9a-f]{12}) {2}open +3 +[\d-]+ [\d:]+ +[\d-]+ [\d:]+ +order of platform failed: Error: no row for evt_\d$/m;
      const id = row.exec(listed.stdout)?.[1] ?? "";
      expect(id).toHaveLength(12);
      const shown = await run("problems", "show", id);
      expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining("3 failures, open, since ")]);
      expect(shown.stdout).toContain(`next: oncehook replay --problem ${id} --wait\n`);
      expect(shown.stdout.match(/evt_\d +exhausted +Error: no row/g)).toHaveLength(3);

      plan.broken = (event_id) => event_id === "evt_2";
      const again = await run("replay", "--problem", id, "--per-second", "50", "--wait");
      expect([again.code, again.stdout]).toEqual([
        1,
        "bulk replay 1 is done: 2 succeeded, 0 already handled, 1 failed again, of 3\n" +
          "those that failed: oncehook failures --bulk-replay 1\n",
      ]);
      expect((await run("failures", "--bulk-replay", "1")).stdout).toMatch(/evt_2/);
      plan.broken = () => false;
      expect((await run("replay", "--problem", id, "--wait")).code).toBe(0);
      const ended = await run("problems", "--json");
      expect([ended.code, JSON.parse(ended.stdout)]).toEqual([0, { items: [], is_complete: true }]);
      expect((await run("problems", "--state", "resolved")).stdout).toContain(id);
      expect(await run("problems", "show", "none")).toMatchObject({ code: 1 });
    }),
);

it("oncehook problems names a source that refuses all its callbacks, with count, since and remedy", () =>
  withProblem(async (run, receiver) => {
    plan.broken = () => false;
    for (let sent = 0; sent < 12; sent += 1) await receiver.send(event("order", {}));
    const good = Date.now();
    for (let sent = 0; sent < 20; sent += 1) await receiver.send(payment(), { secret: "z".repeat(32) });
    const [listed, json] = await Promise.all([run("problems"), run("problems", "--json")]);
    const row = /^([0-9a-f]{12}) {2}open +20 +([\d-]+ [\d:]+) +[\d-]+ [\d:]+ +platform: 20 callbacks refused \(/m;
    const [, id = "", since = ""] = row.exec(listed.stdout) ?? [];
    expect([listed.code, json.code, id.length]).toEqual([1, 1, 12]);
    expect(Math.abs(Date.parse(`${since.replace(" ", "T")}Z`) - good)).toBeLessThan(60_000);
    const { items } = JSON.parse(json.stdout);
    expect(items).toMatchObject([
      { id, kind: "refusal", source: "platform", state: "open", count: 20 },
      { kind: "failure", source: "platform", state: "open", count: 3, title: expect.stringContaining("no row for") },
    ]);
    expect(Math.abs(Date.parse(items[0].since) - good)).toBeLessThan(60_000);
    expect((await run("problems", "show", id)).stdout).toContain("Compare ");
  }));
