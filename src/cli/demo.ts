import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { createAdminClient } from "../admin-client/index.ts";
import { start } from "../app/index.ts";
import { sampleData, signedCallback } from "../dev/sandbox/index.ts";
import { defineHandler, type Handler } from "../handlers/index.ts";
import { demoSetup } from "./demo-setup.ts";
import { table } from "./output.ts";
import { UserError } from "./user-error.ts";

export async function demo(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-demo-"));
  try {
    const lines = await run(folder);
    const wrong = lines.filter(({ isExpected }) => !isExpected);
    if (wrong.length > 0) throw new UserError(`${wrong.length} of ${lines.length} checks failed`);
    process.stdout.write(`\nAll ${lines.length} checks passed: every event was handled exactly once.\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function run(folder: string): Promise<DemoLine[]> {
  const file = join(folder, "oncehook.db");
  const receiver = await startDemoReceiver(file);
  try {
    process.stdout.write(`A receiver on ${receiver.url}, its store in ${file}\n\n`);
    const answers = await sendAll(receiver);
    process.stdout.write(`${table(["callback", "answer", ""], answers.map(cells))}\n\nDatabase contents\n\n`);
    const rows = checkStoredRows(file);
    process.stdout.write(`${table(["what", "found", ""], rows.map(cells))}\n`);
    return [...answers, ...rows];
  } finally {
    await receiver.stop();
  }
}

function cells({ what, got, isExpected }: DemoLine): string[] {
  return [what, got, isExpected ? "ok" : "WRONG"];
}

const EXPECTED: readonly (readonly [what: string, sql: string, found: number])[] = [
  ["records, one for each event that was handled", "SELECT count(*) AS n FROM oncehook_records", 5],
  ["records still processing", "SELECT count(*) AS n FROM oncehook_records WHERE status = 'processing'", 0],
  ["users, their tokens encrypted", "SELECT count(*) AS n FROM users", 1],
  ["orders paid, each once", "SELECT count(*) AS n FROM orders WHERE status = 'paid'", 2],
  ["notifications to send, one for each order", "SELECT count(*) AS n FROM oncehook_notifications", 2],
  ["messages", "SELECT count(*) AS n FROM messages", 1],
  ["failures left", "SELECT count(*) AS n FROM oncehook_failures", 0],
];

function checkStoredRows(file: string): DemoLine[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return EXPECTED.map(([what, sql, expected]) => {
      const found = Number(database.prepare(sql).get()?.n);
      return { what, got: String(found), isExpected: found === expected };
    });
  } finally {
    database.close();
  }
}

type DemoReceiver = Awaited<ReturnType<typeof startDemoReceiver>>;

async function startDemoReceiver(databaseFile: string) {
  // A minute by default; the demo is short.
  const { config, logger, secret, token } = demoSetup(databaseFile, { RETRY_DELAY_SECONDS: "1" });
  const running = await start(config, { handlers: [failsOnce()], logger, retryPollMs: 200 });
  const { events } = createAdminClient({ origin: running.adminOrigin, token });
  const isProcessed = async (eventId: string) =>
    (await events.list({ event_id: eventId })).items.length === 1;
  return { url: `${running.publicOrigin}/api/platform/callback`, secret, isProcessed, stop: running.stop };
}

/** A handler of the user's own, whose first attempt fails as if something it needs were down. */
function failsOnce(): Handler {
  let attempts = 0;
  return defineHandler({
    type: "parcel_shipped",
    data: z.object({ parcel_id: z.string() }),
    handle({ event }) {
      attempts += 1;
      if (attempts === 1) throw new Error("the warehouse does not answer");
      return { parcel_id: event.data.parcel_id };
    },
  });
}

interface DemoLine {
  readonly what: string;
  readonly got: string;
  readonly isExpected: boolean;
}

const DUPLICATES = 50;
const RETRIED_WITHIN_MS = 8_000;
const POLL_EVERY_MS = 100;

async function sendAll({ url, secret, isProcessed }: DemoReceiver): Promise<DemoLine[]> {
  const send = createSender(url, secret);
  const check = async (what: string, expected: RegExp, ...callback: Parameters<Send>) =>
    line(what, await send(...callback), expected);
  const payment = { event_id: "evt-2", data: sampleData("payment_notify") };
  const [authorized, message] = [{ event_id: "evt-1" }, { event_id: "evt-3" }];
  const [forged, unknown] = [{ event_id: "evt-5" }, { event_id: "evt-6", data: {} }];
  return [
    await check("user_authorized", /^200 .*"success".*user_id/, "user_authorized", authorized),
    await check("payment_notify", /^200 .*"success".*order_id/, "payment_notify", payment),
    await check("webhook_message", /^200 .*"success".*message_id/, "webhook_message", message),
    await check("the same payment_notify again", /^200 .*"already_processed"/, "payment_notify", payment),
    await burst(send),
    await check("a forged signature", /^401 .*"error"/, "payment_notify", forged, "0".repeat(64)),
    await check("an unknown type", /^400 .*"error"/, "nobody_knows", unknown),
    ...(await retriedFailure(send, isProcessed)),
  ];
}

type Send = ReturnType<typeof createSender>;

function createSender(url: string, secret: string) {
  return async (
    type: string,
    event: { readonly event_id: string; readonly data?: unknown },
    signature?: string,
  ): Promise<string> => {
    const timestamp = Math.floor(Date.now() / 1000);
    const whole = { event_type: type, timestamp, data: sampleData(type), ...event };
    const { headers, body } = signedCallback(secret, whole, type);
    const signed = signature === undefined ? headers : { ...headers, "x-signature": signature };
    const response = await fetch(url, { method: "POST", headers: signed, body });
    return `${response.status} ${await response.text()}`;
  };
}

function line(what: string, got: string, expected: RegExp): DemoLine {
  return { what, got, isExpected: expected.test(got) };
}

async function burst(send: Send): Promise<DemoLine> {
  const event = { event_id: "evt-4", data: sampleData("payment_notify") };
  const answers = await Promise.all(Array.from({ length: DUPLICATES }, () => send("payment_notify", event)));
  const count = (status: string) => answers.filter((text) => text.includes(`"status":"${status}"`)).length;
  const got = `${count("success")} success, ${count("already_processed")} already_processed`;
  const expected = `1 success, ${DUPLICATES - 1} already_processed`;
  return { what: `one payment_notify ${DUPLICATES} times at once`, got, isExpected: got === expected };
}

/** The first attempt fails and is answered 500; then nothing is sent, and the retry loop heals it by itself. */
async function retriedFailure(send: Send, isProcessed: DemoReceiver["isProcessed"]): Promise<DemoLine[]> {
  const event = { event_id: "evt-7", data: { parcel_id: "parcel-1" } };
  const failed = line("a handler that fails", await send("parcel_shipped", event), /^500 .*"internal error"/);
  const startedAt = performance.now();
  while (!(await isProcessed(event.event_id)) && performance.now() - startedAt < RETRIED_WITHIN_MS)
    await sleep(POLL_EVERY_MS);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const what = `the same event, retried by us ${seconds} s later`;
  return [failed, line(what, await send("parcel_shipped", event), /^200 .*"already_processed"/)];
}
