import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import type { Ended } from "../support/child.ts";
import { runCommandLine } from "../support/command.ts";
import { event, type TestReceiver, TOKEN, withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

const plan = { broken: (_: string): boolean => true };
const unreliable = defineHandler({
  type: "unreliable",
  data: z.object({}),
  async handle({ event, tx, notify }) {
    await tx.execute("SELECT order_id\n FROM orders");
    await notify("came.through", { event_id: event.event_id });
    if (plan.broken(event.event_id)) throw new Error("down");
    return {};
  },
});

function withFailures(
  use: (run: (...args: string[]) => Promise<Ended>, receiver: TestReceiver) => Promise<void>,
): Promise<void> {
  return withReceiver(
    "sqlite",
    async (receiver) => {
      plan.broken = () => true;
      for (const id of ["evt_1", "evt_2", "evt_3"]) await receiver.send(event("unreliable", {}, { event_id: id }));
      const ADMIN_PORT = new URL(receiver.adminOrigin).port;
      const env = { ...CHILD_ENVIRONMENT, ADMIN_TOKEN: TOKEN, ADMIN_PORT };
      await use((...args) => runCommandLine(args, env), receiver);
    },
    { handlers: [unreliable], bulkPollMs: 20, env: { RETRY_MAX: "0" } },
  );
}

describe("many failures at the command line", () => {
  it("a bulk replay runs to the last failure, and exits 1 where one fails again", { tags: "full" }, () =>
    withFailures(async (run, receiver) => {
      plan.broken = (id) => id === "evt_2";
      const first = await run("replay", "--state", "exhausted", "--per-second", "50", "--wait");
      expect([first.code, first.stdout]).toEqual([
        1,
        "bulk replay 1 is done: 2 succeeded, 0 already handled, 1 failed again, of 3\n" +
          "those that failed: oncehook failures --bulk-replay 1\n",
      ]);
      expect(first.stderr).toContain("done: 3 of 3");
      plan.broken = () => false;
      const args = ["--source", "platform", "--type", "unreliable", "--code", "handler_failed", "--wait"];
      const second = await run("replay", ...args, "--json");
      expect([second.code, second.stderr]).toEqual([0, ""]);
      expect(JSON.parse(second.stdout)).toMatchObject({
        filter: { source: "platform", event_type: "unreliable", code: "handler_failed" },
        state: "done",
        succeeded: 1,
      });
      expect(await receiver.count("oncehook_failures")).toBe(0);
    }),
  );

  it("a bulk replay starts without waiting by default, and replays nothing where nothing matches", () =>
    withFailures(async (run) => {
      expect((await run("replay", "--type", "other", "--wait")).stdout).toContain("0 failed again, of 0");
      const { code, stdout } = await run("replay", "--all", "--per-second", "1");
      expect([code, stdout]).toEqual([0, "bulk replay 2 is running: 3 failures, max 1/s\n"]);
      expect((await run("failures", "--type", "other")).stdout).toBe("no such failure\n");
    }));

  it("options of a bulk replay are refused for one event, and those of one event for a bulk replay", () =>
    withFailures(async (run, receiver) => {
      const mistakes: [string[], string][] = [
        [[], "missing argument 'event_id', or for many --state"],
        [["--dry-run", "--all"], "--dry-run is for one event"],
        [["evt_1", "--per-second", "3"], "--per-second is for many failures"],
        [["evt_1", "--state", "exhausted"], "--state is for many failures"],
      ];
      for (const [args, words] of mistakes) {
        const { code, stderr } = await run("replay", ...args);
        expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(words)]);
      }
      const refused = await run("replay", "--all", "--per-second", "1000");
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("number from 1 to 100")]);
      expect(await receiver.count("oncehook_bulk_replays")).toBe(0);
    }));

  it("a dry run prints its statements and notifications, a line each", () =>
    withFailures(async (run) => {
      plan.broken = () => false;
      const { code, stdout } = await run("replay", "evt_1", "--dry-run");
      expect([code, stdout]).toEqual([
        0,
        'a dry run, rolled back: success {}\n  0 rows  SELECT order_id FROM orders\n  notification came.through {"event_id":"evt_1"}\n',
      ]);
    }));
});
