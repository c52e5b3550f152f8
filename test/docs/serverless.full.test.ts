import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runChild } from "../support/child.ts";
import { withDatabase } from "../support/databases.ts";
import { namedBlocks, withFiles } from "../support/doc-blocks.ts";
import { rowsOf } from "../support/effects.ts";

/** A callback whose table is missing, the table, and the schedule's calls. */
const RUN = `
import { signedCallback } from "oncehook/testing";
import pg from "pg";
import { callbacks } from "./callbacks.ts";
import { config, receiver } from "./receiver.ts";
import { work } from "./work.ts";

const event = { source: "stripe", type: "invoice.paid", data: { data: { object: { id: "in_1" } } } };
const { path, ...init } = signedCallback(config, event);
const waiting = [];
const response = await callbacks(new Request("https://shop.example.com" + path, init), (promise) => waiting.push(promise));
await Promise.all(waiting);
const client = new pg.Client({ connectionString: process.env.ONCEHOOK_DATABASE_URL });
await client.connect();
await client.query("CREATE TABLE paid_invoices (id text)");
await client.query("UPDATE oncehook_failures SET next_attempt_at = now()");
await client.end();
const call = async (authorization) => work(new Request("https://shop.example.com/api/work", { headers: { authorization } }));
const refused = await call("Bearer wrong");
const done = await (await call("Bearer of-the-schedule")).json();
await receiver.close();
process.stdout.write(JSON.stringify([response.status, refused.status, done]));
`;

it("the blocks of docs/serverless.md keep a failed event for the schedule, whose work() completes it", () =>
  withDatabase("postgres", async (target) => {
    const blocks = Array.from(namedBlocks("docs/serverless.md"), ([name, text]) => [`${name}.ts`, text] as const);
    const ran = await withFiles([...blocks, ["run.ts", RUN]], (folder) =>
      runChild(join(folder, "run.ts"), [], {
        PATH: process.env.PATH,
        STRIPE_SECRET: "whsec_of-the-function",
        CRON_SECRET: "of-the-schedule",
        ONCEHOOK_DATABASE_URL: target.url,
        ONCEHOOK_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
        ONCEHOOK_POOL_SIZE: "2",
        ONCEHOOK_LOG_LEVEL: "fatal",
      }),
    );
    expect(ran.stderr).toBe("");
    expect(JSON.parse(ran.stdout)).toEqual([500, 401, { ran: 1, isDone: true }]);
    expect(await rowsOf(target, "SELECT id FROM paid_invoices")).toEqual([{ id: "in_1" }]);
  }));
