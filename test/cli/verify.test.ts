import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { type Ended, runChild } from "../support/child.ts";
import { DIALECTS } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import type { Target } from "../support/open-target.ts";
import { event, payment, withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

const failing = defineHandler({
  type: "failing",
  data: z.object({}),
  handle() {
    throw new Error("the stock service is down");
  },
});

function verify(target: Target, ...args: string[]): Promise<Ended> {
  return runChild("src/cli/main.js", ["verify", ...args], {
    ...CHILD_ENVIRONMENT,
    DATABASE_URL: target.url,
  });
}

/** What breaks each invariant, done to a database with one success `evt-a` and one failure `evt-b`. */
const BREAKS = [
  ["records-completed", "UPDATE oncehook_records SET processed_at = NULL"],
  [
    "one-success",
    `INSERT INTO oncehook_callbacks (request_id, received_at, source, event_id, method, url, remote_address, request_headers,
      request_body, outcome, response_status, response_body, processing_ms, with_record)
      SELECT 'another', received_at, source, event_id, method, url, remote_address, request_headers, request_body, outcome,
      response_status, response_body, processing_ms, 0 FROM oncehook_callbacks WHERE event_id = 'evt-a'`,
  ],
  ["log-of-record", "UPDATE oncehook_callbacks SET outcome = 'rejected' WHERE event_id = 'evt-a'"],
  ["record-of-log", "UPDATE oncehook_records SET callback_id = NULL"],
  [
    "failures-open",
    "UPDATE oncehook_failures SET event_id = 'evt-a', state = 'exhausted', next_attempt_at = NULL",
  ],
  ["failures-scheduled", "UPDATE oncehook_failures SET next_attempt_at = NULL"],
  ["notifications-of-records", "UPDATE oncehook_notifications SET event_id = 'evt-c'"],
  [
    "notifications-once",
    `INSERT INTO oncehook_notifications (source, event_id, position, topic, payload, created_at)
      SELECT source, event_id, position, topic, payload, created_at FROM oncehook_notifications`,
  ],
  [
    "deliveries-spread",
    `INSERT INTO oncehook_deliveries (notification_id, channel, state, attempts)
      SELECT id, 'log', 'waiting', 0 FROM oncehook_notifications`,
  ],
  [
    "deliveries-timed",
    `INSERT INTO oncehook_deliveries (notification_id, channel, state, attempts)
      SELECT id, 'log', 'delivered', 1 FROM oncehook_notifications`,
  ],
] as const;

describe.each(DIALECTS)("verify on %s", (dialect) => {
  it("finds nothing where the receiver is at work, and exits 0", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await receiver.send(payment({ event_id: "evt-a" }));
        await receiver.send(event("failing", {}, { event_id: "evt-b" }));
        const { code, stdout, stderr } = await verify(receiver.target);
        expect([code, stderr]).toEqual([0, ""]);
        expect(stdout).not.toContain("FALSE");
        expect(stdout).toContain("true  no event was answered success twice");
      },
      { handlers: [failing] },
    ));

  it.each(BREAKS)("finds what breaks %s, names it and exits 1", (name, statement) =>
    withReceiver(
      dialect,
      async (receiver) => {
        await receiver.send(payment({ event_id: "evt-a" }));
        await receiver.send(event("failing", {}, { event_id: "evt-b" }));
        await execute(receiver.target, statement);
        const { code, stdout } = await verify(receiver.target, "--json");
        const found = JSON.parse(stdout) as { name: string; broken: number; examples: string[] }[];
        expect(code).toBe(1);
        expect(found.find((one) => one.name === name)).toMatchObject({
          broken: 1,
          examples: [expect.any(String)],
        });
      },
      { handlers: [failing] },
    ),
  );
});

it("says what to do where there is no database", async () => {
  const { code, stderr } = await verify({ dialect: "sqlite", url: "sqlite:/nowhere/at-all.db" });
  expect(code).toBe(1);
  expect(stderr).toContain("DATABASE_URL: the database cannot be read");
});
