import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { runCommandLine } from "../support/command.ts";
import { event, payment, TOKEN, withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

const broken = defineHandler({
  type: "broken",
  data: z.object({}),
  handle() {
    throw new Error("down");
  },
});
const asking =
  (port: string) =>
  (...args: string[]) =>
    runCommandLine(args, { ...CHILD_ENVIRONMENT, ADMIN_TOKEN: TOKEN, ADMIN_PORT: port });

it("oncehook without a command shows whether the receiver responds, what is open and the next step", () =>
  withReceiver(
    "sqlite",
    async (receiver) => {
      const run = asking(new URL(receiver.adminOrigin).port);
      const fresh = await run();
      expect([fresh.code, fresh.stderr]).toEqual([0, ""]);
      expect(fresh.stdout).toMatch(/^receiver +responds; test, version \d/m);
      expect(fresh.stdout).toMatch(/^next step +oncehook sources .*oncehook send/m);
      await receiver.send(payment());
      expect((await run()).stdout).toMatch(/^next step +none; oncehook tail /m);
      await receiver.send(payment(), { secret: "z".repeat(32) });
      await receiver.send(event("broken", {}, { event_id: "evt_broken" }));
      const { stdout } = await run("status", "--utc");
      expect(stdout).toMatch(/^last callback +\d\d:\d\d:\d\dZ {2}platform {2}broken {2}handler_failed$/m);
      expect(stdout).toMatch(/^last hour +1 handled, 1 refused, 1 failed$/m);
      expect(stdout).toMatch(/^failures +1 exhausted, 0 rejected, 0 waiting for a retry$/m);
      expect(stdout).toMatch(/^alerts +0 open, 0 muted$/m);
      expect(stdout).toMatch(/^problems +1 open: broken of platform failed: Error: down \(1 ×\)$/m);
      expect(stdout).toMatch(/^next step +oncehook problems$/m);
      const json = JSON.parse((await run("status", "--json")).stdout);
      expect(json).toMatchObject({ overview: { failures: { exhausted: 1 } }, last_callback: { event_type: "broken" } });
    },
    { handlers: [broken], env: { RETRY_MAX: "0", HANDLERS: "payment_notify" } },
  ));

it("oncehook status names the problem of an event that waits for a retry, and leads to the problems", () =>
  withReceiver(
    "sqlite",
    async (receiver) => {
      await receiver.send(event("broken", {}, { event_id: "evt_broken" }));
      const { stdout } = await asking(new URL(receiver.adminOrigin).port)("status");
      expect(stdout).toMatch(/^failures +0 exhausted, 0 rejected, 1 waiting for a retry$/m);
      expect(stdout).toMatch(/^problems +1 open: broken of platform failed: Error: down \(1 ×\)$/m);
      expect(stdout).toMatch(/^next step +oncehook problems$/m);
    },
    { handlers: [broken], env: { HANDLERS: "payment_notify" } },
  ));

it("oncehook without a command says that no receiver responds, and exits 1", async () => {
  const { code, stderr } = await asking("9")();
  expect([code, stderr]).toEqual([1, expect.stringContaining("did not answer. Is the receiver running (npm start)")]);
});

it("oncehook without a command shows the help in a folder without a project, and writes nothing", async () => {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-empty-"));
  const { code, stdout } = await runCommandLine([], { PATH: process.env.PATH, NO_COLOR: "1" }, folder);
  expect([code, stdout]).toEqual([0, expect.stringContaining("Usage: oncehook")]);
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});

it("oncehook bulk-replays lists the replays of many failures, and shows one of them", () =>
  withReceiver(
    "sqlite",
    async (receiver) => {
      const run = asking(new URL(receiver.adminOrigin).port);
      expect((await run("bulk-replays")).stdout).toBe("no bulk replay was started\n");
      await receiver.send(event("broken", {}, { event_id: "evt_broken" }));
      await run("replay", "--type", "broken", "--wait");
      const row = /^1 +failures +done +1 +0 +0 +1 +0 +event_type=broken +token /m;
      expect((await run("bulk-replays")).stdout).toMatch(row);
      expect((await run("bulk-replays", "1")).stdout).toMatch(row);
      const unknown = await run("bulk-replays", "2");
      expect([unknown.code, unknown.stderr]).toEqual([
        1,
        expect.stringContaining("there is no bulk replay with this id"),
      ]);
    },
    { handlers: [broken], env: { RETRY_MAX: "0", HANDLERS: "none" }, bulkPollMs: 20 },
  ));
