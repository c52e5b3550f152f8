import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import type { Ended } from "../support/child.ts";
import { runCommandLine } from "../support/command.ts";
import { event, type TestReceiver, TOKEN, withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

const plan = { tax: 1, isBroken: false, failsWhenRun: false, runs: 0 };
const taxed = defineHandler({
  type: "taxed",
  data: z.object({}),
  async handle({ tx, notify }) {
    plan.runs += 1;
    if (plan.isBroken) throw new Error("still broken");
    // The dry run of the first event goes well, so that the bulk replay starts.
    if (plan.failsWhenRun && plan.runs % 2 === 0) throw new Error("only when it is written");
    await tx.execute("SELECT order_id\n FROM orders");
    await notify("order.taxed", { tax: plan.tax });
    return { tax: plan.tax };
  },
});

function withHandled(
  use: (run: (...args: string[]) => Promise<Ended>, receiver: TestReceiver) => Promise<void>,
  keep = "30d",
): Promise<void> {
  return withReceiver(
    "sqlite",
    async (receiver) => {
      Object.assign(plan, { tax: 1, isBroken: false, failsWhenRun: false, runs: 0 });
      expect((await receiver.send(event("taxed", {}, { event_id: "evt_1" }))).status).toBe(200);
      plan.tax = 2;
      const ADMIN_PORT = new URL(receiver.adminOrigin).port;
      const env = { ...CHILD_ENVIRONMENT, ADMIN_TOKEN: TOKEN, ADMIN_PORT };
      await use((...args) => runCommandLine(args, env), receiver);
    },
    { handlers: [taxed], bulkPollMs: 20, env: { KEEP_ORIGINALS: keep } },
  );
}

const DRY =
  'a dry run, rolled back: success {"tax":2}\n  0 rows  SELECT order_id FROM orders\n' +
  '  notification order.taxed {"tax":2}\n';

describe("a handled event at the command line", () => {
  it("a replay of a handled event shows its dry run and changes nothing, and says how it is done", () =>
    withHandled(async (run, receiver) => {
      const { code, stdout, stderr } = await run("replay", "evt_1");
      expect([code, stdout]).toEqual([1, DRY]);
      expect(stderr).toContain("evt_1 is handled already, and nothing was changed");
      expect(stderr).toContain('oncehook replay evt_1 --force --reason "why"');
      const asked = await run("replay", "evt_1", "--dry-run");
      expect([asked.code, asked.stdout, asked.stderr]).toEqual([0, DRY, ""]);
      expect(await receiver.count("oncehook_event_replays")).toBe(0);
    }));

  it("a forced replay makes its dry run first, and shows the new result and the earlier one", () =>
    withHandled(async (run, receiver) => {
      const { code, stdout } = await run("replay", "evt_1", "--force", "--reason", "the tax was wrong");
      expect([code, stdout]).toEqual([0, `${DRY}replayed: success {"tax":2}\nits earlier result: {"tax":1}\n`]);
      expect(await receiver.count("oncehook_event_replays", "reason = 'the tax was wrong'")).toBe(1);
      const shown = await run("event", "evt_1");
      expect(shown.stdout).toMatch(/run again at [\d:]+ by token: the tax was wrong; before that \{"tax":1\}\n/);
      const again = await run("replay", "evt_1", "--force", "--reason", "once more", "--json");
      expect(JSON.parse(again.stdout)).toMatchObject({ dry_run: false, earlier: { result: { tax: 2 } } });
    }));

  it("a forced replay writes nothing where its dry run fails", () =>
    withHandled(async (run, receiver) => {
      plan.isBroken = true;
      const { code, stdout } = await run("replay", "evt_1", "--force", "--reason", "the tax was wrong");
      expect([code, stdout]).toEqual([1, expect.stringContaining("a dry run, rolled back: handler_failed\n")]);
      expect(stdout).not.toContain("replayed");
      expect(await receiver.count("oncehook_attempts")).toBe(0);
    }));

  it("a forced replay without a reason is refused, and so is a reason without force", () =>
    withHandled(async (run) => {
      const mistakes: [string[], string][] = [
        [["--force"], "--reason: missing"],
        [["--reason", "because"], "--reason is for --force"],
        [["--force", "--reason", "because", "--dry-run"], "--force writes"],
      ];
      for (const [args, words] of mistakes) {
        const { code, stderr } = await run("replay", "evt_1", ...args);
        expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(words)]);
      }
    }));

  it("a handled event without an original is not run, and the command says why", () =>
    withHandled(async (run) => {
      const { code, stderr } = await run("replay", "evt_1", "--force", "--reason", "because");
      expect([code, stderr]).toEqual([1, expect.stringContaining("no original of this event is kept")]);
    }, "0"));

  it("an event that neither failed nor was handled is not found", () =>
    withHandled(async (run) => {
      const { code, stderr } = await run("replay", "evt_none");
      const words = "oncehook: no failure has the id evt_none; `oncehook find evt_none` looks for any value\n";
      expect([code, stderr]).toEqual([1, words]);
    }));

  it("handled events of a source and a time are counted, the first ones run dry, and nothing is changed", () =>
    withHandled(async (run, receiver) => {
      await receiver.send(event("taxed", {}, { event_id: "evt_2" }));
      const args = ["replay", "--handled", "--source", "platform", "--type", "taxed", "--from", "1h"];
      const { code, stdout, stderr } = await run(...args);
      const sample = "Of the first 2, 2 would succeed, 0 be skipped, 0 fail\n";
      expect([code, stdout]).toEqual([1, `2 handled events; the first one is platform/evt_1\n${DRY}${sample}`]);
      expect(stderr).toContain('add --force --reason "why"');
      const asked = await run(...args, "--dry-run", "--json");
      expect(asked.code).toBe(0);
      expect(JSON.parse(asked.stdout)).toMatchObject({ total: 2, first: { event_id: "evt_1" } });
      expect((await run(...args.slice(0, -1), "2020-01-01T00:00:00Z", "--to", "1d", "--dry-run")).stdout).toBe(
        "0 handled events\n",
      );
      expect(await receiver.count("oncehook_bulk_replays")).toBe(0);
    }));

  it("handled events are run again with force and a reason, and those that failed are listed", { tags: "full" }, () =>
    withHandled(async (run) => {
      const args = ["replay", "--handled", "--source", "platform", "--type", "taxed", "--force", "--reason", "mended"];
      const done = await run(...args, "--wait");
      expect([done.code, done.stdout]).toEqual([
        0,
        `1 handled event; the first one is platform/evt_1\n${DRY}` +
          "bulk replay 1 is done: 1 succeeded, 0 failed, 0 skipped, of 1\n",
      ]);
      Object.assign(plan, { failsWhenRun: true, runs: 0 });
      const failed = await run(...args, "--wait", "--json");
      expect([failed.code, JSON.parse(failed.stdout)]).toMatchObject([1, { scope: "events", failed: 1, succeeded: 0 }]);
      const listed = await run("bulk-replays", "2", "--events");
      expect(listed.stdout).toMatch(/failed +platform +evt_1 +handler_failed +Error: only when it is written/);
      expect((await run("bulk-replays")).stdout).toContain("events");
    }),
  );

  it("a source that is none, a type without a handled event and an unknown problem are reported, and start nothing", () =>
    withHandled(async (run, receiver) => {
      const unknown = '--source: got "strip", which is no source here; there are platform, oauth';
      const ofType =
        "no event of the type taxd of platform was handled in that time; `oncehook events --source platform`";
      const ofProblem = "there is no problem with this id; see oncehook problems.\n";
      const mistakes: [string[], number, string][] = [
        [["replay", "--handled", "--source", "strip", "--from", "1d"], 2, unknown],
        [["replay", "--handled", "--source", "platform", "--type", "taxd", "--from", "1d"], 1, ofType],
        [["replay", "--source", "strip"], 2, unknown],
        [["replay", "--problem", "abc"], 1, ofProblem],
        [["failures", "--problem", "abc"], 1, ofProblem],
        [["failures", "--source", "strip"], 2, unknown],
        [["events", "--source", "strip"], 2, unknown],
      ];
      for (const [args, exits, words] of mistakes) {
        const { code, stderr } = await run(...args);
        expect([args, code, stderr]).toEqual([args, exits, expect.stringContaining(words)]);
      }
      expect(await receiver.count("oncehook_bulk_replays")).toBe(0);
    }));

  it("handled events are run again only for a source, with a reason, and with no option of failures", () =>
    withHandled(async (run) => {
      const mistakes: [string[], string][] = [
        [["--handled"], "--source: missing"],
        [["--handled", "--source", "platform", "--force"], "--reason: missing"],
        [["--handled", "--source", "platform", "--state", "exhausted"], "--handled takes --source"],
        [["--handled", "--source", "platform", "--from", "yesterday"], "expected an age such as 1d"],
        [["--source", "platform", "--from", "1d"], "add --handled"],
        [["evt_1", "--handled"], "--handled is for many"],
      ];
      for (const [args, words] of mistakes) {
        const { code, stderr } = await run("replay", ...args);
        expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(words)]);
      }
    }));
});
