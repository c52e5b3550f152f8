import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestReceiver } from "../../src/testing/index.ts";
import { runCommandLine } from "../support/command.ts";
import { withDatabase } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { withFolder } from "../support/folder.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

const [, block = ""] = /```sh import\n([\s\S]*?)```/.exec(readFileSync("docs/moving-a-route.md", "utf8")) ?? [];
const { ENCRYPTION_KEY } = CHILD_ENVIRONMENT;
const STRIPE = { SOURCES: "stripe", STRIPE_SECRET: "whsec_of-the-tests" };

it("the commands of docs/moving-a-route.md import an application's table, and its events are duplicates", () =>
  withDatabase("postgres", (target) =>
    withFolder(async (folder) => {
      await execute(target, "CREATE TABLE processed_events (id text PRIMARY KEY, received_at timestamptz NOT NULL)");
      const values = "('evt_1', '2025-01-02T03:04:05.678Z'), ('evt_2', '2026-02-03T04:05:06Z')";
      await execute(target, `INSERT INTO processed_events VALUES ${values}`);
      // As psql writes the rows of the page's statement with --csv, which needs no quotes for them.
      const select = /"(SELECT id, received_at) (FROM [a-z_]+)"/.exec(block);
      const rows = await rowsOf(target, `${select?.[1]}::text ${select?.[2]}`);
      const csv = ["id,received_at", ...rows.map(({ id, received_at }) => `${id},${received_at}`)].join("\n");
      writeFileSync(join(folder, "seen.csv"), `${csv}\n`);
      const env = { ...CHILD_ENVIRONMENT, ...STRIPE, DATABASE_URL: target.url };
      await runCommandLine(["migrate"], env, folder);
      const printed: string[] = [];
      for (const [, args = ""] of block.matchAll(/^npx oncehook ([^#\n]*)/gm))
        printed.push((await runCommandLine(args.trim().split(" "), env, folder)).stdout);
      expect(printed).toEqual([
        "stripe: 2 events would be imported; nothing was changed; 0 already there, 0 refused\n",
        "stripe: 2 events imported; 0 already there, 0 refused\n",
      ]);
      const imported = await rowsOf(
        target,
        "SELECT event_id, processed_at::text FROM oncehook_records ORDER BY event_id",
      );
      expect(imported).toEqual(rows.map(({ id, received_at }) => ({ event_id: id, processed_at: received_at })));
    }),
  ));

it("an imported event of Stripe is answered already_processed by its handler's receiver", () =>
  withFolder(async (folder) => {
    const databaseUrl = `sqlite:${join(folder, "seen.db")}`;
    const env = { ...CHILD_ENVIRONMENT, ...STRIPE, DATABASE_URL: databaseUrl };
    writeFileSync(join(folder, "ids.txt"), "evt_1\n");
    expect(await runCommandLine(["import-seen", "stripe", "--file", "ids.txt"], env, folder)).toMatchObject({
      code: 0,
    });
    await using receiver = await startTestReceiver({ databaseUrl, env: { ...STRIPE, ENCRYPTION_KEY } });
    const send = async (id: string) =>
      (await receiver.send({ source: "stripe", type: "invoice.paid", id })).body.status;
    expect([await send("evt_1"), await send("evt_2")]).toEqual(["already_processed", "success"]);
  }));
