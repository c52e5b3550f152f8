import { expect, it } from "vitest";
import { runCommandLine } from "../support/command.ts";
import { TOKEN, withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";
import { shop } from "../support/shop-source.ts";
import { handlerOf } from "../support/stored-events.ts";

it("oncehook backfills lists backfills, shows one, and pauses, resumes and cancels it", { tags: "full" }, () =>
  withReceiver(
    "sqlite",
    async (receiver) => {
      const env = { ...CHILD_ENVIRONMENT, ADMIN_TOKEN: TOKEN, ADMIN_PORT: new URL(receiver.adminOrigin).port };
      const run = (...args: string[]) => runCommandLine(["backfills", ...args], env);
      expect((await run()).stdout).toBe("no backfill was started\n");
      const start = () =>
        receiver.admin("/api/v1/backfills", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ handler: "shop#audit", since: "2026-01-01T00:00:00Z" }),
        });
      expect((await start()).status).toBe(201);
      const second = await start();
      expect([second.status, second.body.error]).toEqual([
        409,
        "backfill 1 of shop#audit is running, and takes the same events: wait for its end, or cancel it (oncehook backfills 1 --cancel)",
      ]);
      const row = (state: string) => new RegExp(`^1 +${state} +shop#audit +all +0 +0 +0 +token `, "m");
      expect((await run()).stdout).toMatch(row("running"));
      expect((await run("1", "--pause")).stdout).toMatch(row("paused"));
      expect((await run("1", "--resume")).stdout).toMatch(row("running"));
      expect((await run("1", "--cancel")).stdout).toMatch(row("cancelled"));
      const ended = await run("1", "--resume");
      expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining("this backfill has ended")]);
      const unknown = await run("2");
      expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("there is no backfill with this id")]);
      const none = await run("--pause");
      expect([none.code, none.stderr]).toEqual([
        2,
        expect.stringContaining("--pause is for one backfill: give its id"),
      ]);
    },
    { sources: { shop: shop() }, handlers: [handlerOf("audit")] },
  ),
);
