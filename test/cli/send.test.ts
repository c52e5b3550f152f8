import { expect, it } from "vitest";
import { runCommandLine } from "../support/command.ts";
import { PRODUCTION } from "../support/configuration.ts";
import { withDatabase } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { startServer } from "../support/process.ts";
import { SECRET, TOKEN } from "../support/receiver.ts";

const KEY = Buffer.alloc(32, 7).toString("base64");

const send = (url: string, ...args: string[]) =>
  runCommandLine(["send", "payment_notify", ...args], {
    PATH: process.env.PATH,
    APP_ENV: "test",
    SIGNING_SECRET: SECRET,
    ADMIN_TOKEN: TOKEN,
    ENCRYPTION_KEY: KEY,
    CALLBACK_BASE_URL: url,
  });

it("a repeated send has the same body, id, timestamp and data, so that nothing is warned of", { tags: "full" }, () =>
  withDatabase("sqlite", async (target) => {
    const server = await startServer(target);
    const same = ["--id", "evt_1", "--timestamp", "1750000000", "--data", '{"order_id":"o1","amount":1}'];
    expect((await send(server.url, ...same)).stdout).toContain('"timestamp":1750000000');
    expect((await send(server.url, ...same)).stdout).toContain("already_processed");
    const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/^oncehook_body_mismatch_total\{source="platform"\} 0$/m);
    expect(await rowsOf(target, "SELECT event_id FROM oncehook_records")).toEqual([{ event_id: "evt_1" }]);
    server.child.kill("SIGTERM");
    await server.ended;
  }),
);

it.each([
  ["RATE_LIMIT_CALLBACK", "RATE_LIMIT_DEFAULT"],
  ["RATE_LIMIT_DEFAULT", "RATE_LIMIT_CALLBACK"],
])("a send refused by %s reports for how long", { tags: "full" }, (used, other) =>
  withDatabase("sqlite", async (target) => {
    const server = await startServer(target, { [used]: "1/hour", [other]: "off" });
    expect((await send(server.url)).code).toBe(0);
    const refused = await send(server.url);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      new RegExp(`^oncehook: too many requests from this address: Retry-After \\d+ seconds\\. ${used} of`),
    );
    server.child.kill("SIGTERM");
    await server.ended;
  }),
);

it.each([
  [["send", "payment_notify"], "the built-in protocol (`platform`) is off"],
  [["sign", "-"], "there is nothing to sign with"],
])("without SIGNING_SECRET nothing is signed for the platform: %j", async (args, reason) => {
  const { code, stdout, stderr } = await runCommandLine(args, {
    ...PRODUCTION,
    PATH: process.env.PATH,
    SIGNING_SECRET: "",
    SOURCES: "stripe",
    STRIPE_SECRET: "whsec_vJ8qLx2RkT0bNfYd7WmC",
    HANDLERS: "none",
  });
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(reason);
});
