import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import type { Ended } from "../support/child.ts";
import { runCommandLine } from "../support/command.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { freePort } from "../support/free-port.ts";
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
  return runCommandLine(["verify", ...args], {
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
  ["failures-open", "UPDATE oncehook_failures SET event_id = 'evt-a', state = 'exhausted', next_attempt_at = NULL"],
  ["failures-scheduled", "UPDATE oncehook_failures SET next_attempt_at = NULL"],
  ["notifications-of-records", "UPDATE oncehook_notifications SET event_id = 'evt-c'"],
  [
    "notifications-once",
    `INSERT INTO oncehook_notifications (source, event_id, position, topic, payload, created_at)
      SELECT source, event_id, position, topic, payload, created_at FROM oncehook_notifications`,
  ],
  [
    "deliveries-fanned-out",
    `INSERT INTO oncehook_deliveries (notification_id, channel, state, attempts)
      SELECT id, 'log', 'waiting', 0 FROM oncehook_notifications`,
  ],
  [
    "deliveries-timed",
    `INSERT INTO oncehook_deliveries (notification_id, channel, state, attempts)
      SELECT id, 'log', 'delivered', 1 FROM oncehook_notifications`,
  ],
] as const;

describeFullOnPostgres("verify on %s", (dialect) => {
  it("verify finds nothing where the receiver is at work, and exits 0", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await receiver.send(payment({ event_id: "evt-a" }));
        await receiver.send(event("failing", {}, { event_id: "evt-b" }));
        const { code, stdout, stderr } = await verify(receiver.target);
        expect([code, stderr]).toEqual([0, ""]);
        expect(stdout).not.toContain("FAILURE");
        expect(stdout).toContain("ok      one-success: no event has two log entries with the outcome success");
        expect(stdout).toMatch(/: environment test, 1 events, the newest of \d{4}-.+\nall \d+ hold\n$/);
      },
      { handlers: [failing] },
    ));

  it.each(BREAKS)("verify finds what breaks %s, names it and exits 1", (name, statement) =>
    withReceiver(
      dialect,
      async (receiver) => {
        await receiver.send(payment({ event_id: "evt-a" }));
        await receiver.send(event("failing", {}, { event_id: "evt-b" }));
        await execute(receiver.target, statement);
        const { code, stdout } = await verify(receiver.target, "--json");
        const { invariants } = JSON.parse(stdout) as { invariants: { name: string }[] };
        expect(code).toBe(1);
        expect(invariants.find((one) => one.name === name)).toMatchObject({
          violations: 1,
          examples: [expect.any(String)],
        });
      },
      { handlers: [failing] },
    ),
  );
});

it("verify reads a backup by its name, and makes no file beside it", () =>
  inFolder(async (folder) => {
    const live = `sqlite:${join(folder, "live.db")}`;
    const env = { ...CHILD_ENVIRONMENT, DATABASE_URL: live };
    await runCommandLine(["migrate"], env, folder);
    await runCommandLine(["backup", "copy.db"], env, folder);
    const { code, stdout } = await runCommandLine(["verify", "copy.db"], BARE, folder);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`${join(folder, "copy.db")}: environment test, 0 events`),
    ]);
    expect(readdirSync(folder).filter((name) => !name.startsWith("live.db"))).toEqual(["copy.db"]);
  }));

/** No secrets: whoever looks after a database needs none. */
const BARE = { PATH: CHILD_ENVIRONMENT.PATH, APP_ENV: "test" };

it.each([
  ["there is none", () => {}, "there is no file"],
  ["there is a folder", (file: string) => mkdirSync(file), "is a folder; name a file in it"],
  ["another program's lies", otherProgramsDatabase, "holds none of Oncehook's tables"],
])("verify reports it, and changes nothing, where %s", (_title, make, words) =>
  inFolder(async (folder) => {
    const file = join(folder, "data.db");
    make(file);
    const before = readdirSync(folder);
    const { code, stderr } = await runCommandLine(["verify"], {
      ...BARE,
      DATABASE_URL: `sqlite:${file}`,
    });
    expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`^oncehook: .*${words}.*\n$`))]);
    expect(stderr).toContain(file);
    expect(readdirSync(folder)).toEqual(before);
  }),
);

it("verify reports a file that cannot be read as not intact", () =>
  inFolder(async (folder) => {
    const file = join(folder, "data.db");
    writeFileSync(file, "nothing that can be read\n".repeat(1_000));
    const { code, stdout } = await runCommandLine(["verify", file], BARE);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAILURE file-intact: .*file is not a database\n/);
    expect(stdout).toContain('1 of 1 do not hold; docs/reliability.md, "What verify finds"');
  }));

it("verify names a server that does not respond, and the address that it tried", async () => {
  const url = `postgres://nobody:secret@127.0.0.1:${await freePort()}/nowhere`;
  const { code, stderr } = await runCommandLine(["verify"], { ...BARE, DATABASE_URL: url });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^oncehook: DATABASE_URL: the database nowhere on 127\.0\.0\.1:\d+ cannot be read: .*ECONNREFUSED/,
  );
  expect(stderr).not.toContain("secret");
});

function otherProgramsDatabase(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("CREATE TABLE recipes (id integer PRIMARY KEY)");
  database.close();
}

async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-verify-"));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
