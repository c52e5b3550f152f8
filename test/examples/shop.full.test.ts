import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DIALECTS, withDatabase } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { startServer } from "../support/process.ts";
import { event } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";
import { runCommand, shellBlocks } from "../support/shell.ts";

const FOLDER = "examples/shop";
const [, commands = []] = shellBlocks(readFileSync(`${FOLDER}/README.md`, "utf8"));

describe.each(DIALECTS)("the shop on %s", (dialect) => {
  it("the shop does what its README says, command for command", () =>
    withDatabase(dialect, async (target) => {
      const server = await startServer(target, {}, FOLDER);
      const env = {
        ...CHILD_ENVIRONMENT,
        CALLBACK_BASE_URL: server.url,
      };
      const answers: string[] = [];
      for (const command of commands) answers.push((await runCommand(command, env)).trim().split("\n").at(-1) ?? "");
      expect(answers).toEqual([
        '{"status":"success","data":{"order_id":"o1"}}',
        '{"status":"success","data":{"order_id":"o1","missing_cents":3000}}',
        '{"status":"already_processed"}',
        '{"status":"success","data":{"order_id":"o1","missing_cents":0}}',
      ]);
      expect(await rowsOf(target, "SELECT * FROM shop_orders")).toEqual([
        { id: "o1", total_cents: 5000, paid_cents: 5000, status: "paid" },
      ]);
      const notifications = await rowsOf(target, "SELECT topic FROM oncehook_notifications");
      expect(notifications).toEqual([{ topic: "order.paid" }]);
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
    }));

  it("the shop counts payments that arrive together, and none of an unknown order", () =>
    withDatabase(dialect, async (target) => {
      const limits = { RATE_LIMIT_CALLBACK: "off", RATE_LIMIT_DEFAULT: "off" };
      const server = await startServer(target, limits, FOLDER);
      await server.send(event("order_placed", { order_id: "o2", total_cents: 2000 }));
      const pay = (n: number) =>
        server.send(event("payment_notify", { order_id: "o2", payment_id: `p${n}`, amount: 100 }));
      await Promise.all(Array.from({ length: 20 }, (_, n) => pay(n)));
      expect(await rowsOf(target, "SELECT paid_cents, status FROM shop_orders")).toEqual([
        { paid_cents: 2000, status: "paid" },
      ]);
      const unknown = event("payment_notify", { order_id: "none", payment_id: "p", amount: 1 });
      expect(await server.send(unknown)).toEqual({
        status: 400,
        body: { error: "order_id: there is no order none" },
      });
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
    }));
});
