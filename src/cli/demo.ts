import { z } from "zod";
import { BUILT_IN_TYPES } from "../config/index.ts";
import { sampleData } from "../dev/sandbox/index.ts";
import { defineHandler, type Handler } from "../handlers/index.ts";
import { startTestReceiver, type TestEvent, type TestReceiver } from "../testing/index.ts";
import { table } from "./output.ts";
import { UserError } from "./user-error.ts";

export async function demo(): Promise<void> {
  const receiver = await startTestReceiver({
    handlers: [failsOnce()],
    env: { HANDLERS: BUILT_IN_TYPES.join(",") },
    printFailures: false,
  });
  try {
    const lines = await run(receiver);
    const wrong = lines.filter(({ isExpected }) => !isExpected);
    if (wrong.length > 0) throw new UserError(`${wrong.length} of ${lines.length} checks failed`);
    process.stdout.write(`\nAll ${lines.length} checks passed: every event was handled exactly once.\n`);
  } finally {
    await receiver.close();
  }
}

async function run(receiver: TestReceiver): Promise<DemoLine[]> {
  const file = receiver.databaseUrl.replace("sqlite:", "");
  process.stdout.write(`A receiver on ${receiver.url}, its store in ${file}\n\n`);
  const answers = await sendAll(receiver);
  process.stdout.write(`${table(["callback", "answer", ""], answers.map(cells))}\n\nDatabase contents\n\n`);
  const rows = await checkStoredRows(receiver);
  process.stdout.write(`${table(["what", "found", ""], rows.map(cells))}\n`);
  return [...answers, ...rows];
}

interface DemoLine {
  readonly what: string;
  readonly got: string;
  readonly isExpected: boolean;
}

function cells({ what, got, isExpected }: DemoLine): string[] {
  return [what, got, isExpected ? "ok" : "WRONG"];
}

async function checkStoredRows({ records, failures, notifications, read }: TestReceiver): Promise<DemoLine[]> {
  const count = (rows: string) =>
    read(async (tx) => Number((await tx.execute(`SELECT count(*) AS n FROM ${rows}`)).rows[0]?.n));
  const handled = await records();
  const found: readonly (readonly [what: string, found: number, expected: number])[] = [
    ["records, one for each event that was handled", handled.length, 5],
    ["records still processing", handled.filter(({ status }) => status === "processing").length, 0],
    ["users, their tokens encrypted", await count("users"), 1],
    ["orders paid, each once", await count("orders WHERE status = 'paid'"), 2],
    ["notifications to send, one for each order", (await notifications()).length, 2],
    ["messages", await count("messages"), 1],
    ["failures left", (await failures()).length, 0],
  ];
  return found.map(([what, got, expected]) => ({ what, got: String(got), isExpected: got === expected }));
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

const DUPLICATES = 50;
const RETRY_DELAY_MS = 60_000;

async function sendAll({ send, sendForged, clock }: TestReceiver): Promise<DemoLine[]> {
  const check = async (what: string, expected: RegExp, event: TestEvent, sending = send) => {
    const { status, body } = await sending(event);
    const got = `${status} ${JSON.stringify(body)}`;
    return { what, got, isExpected: expected.test(got) };
  };
  const event = (event_type: string, id: number, data = sampleData(event_type) ?? {}) => {
    return { event_type, event_id: `evt-${id}`, data };
  };
  const payment = event("payment_notify", 2);
  const parcel = event("parcel_shipped", 7, { parcel_id: "parcel-1" });
  const lines = [
    await check("user_authorized", /^200 .*"success".*user_id/, event("user_authorized", 1)),
    await check("payment_notify", /^200 .*"success".*order_id/, payment),
    await check("webhook_message", /^200 .*"success".*message_id/, event("webhook_message", 3)),
    await check("the same payment_notify again", /^200 .*"already_processed"/, payment),
    await burst(send, event("payment_notify", 4)),
    await check("a forged signature", /^401 .*"error"/, event("payment_notify", 5), sendForged),
    await check("an unknown type", /^400 .*"error"/, event("nobody_knows", 6)),
    await check("a handler that fails", /^500 .*"internal error"/, parcel),
  ];
  // Nothing is sent meanwhile: the retry loop heals it by itself.
  await clock.advance(RETRY_DELAY_MS);
  const healed = "the same event, retried by us after a minute of the receiver's clock";
  return [...lines, await check(healed, /^200 .*"already_processed"/, parcel)];
}

async function burst(send: TestReceiver["send"], event: TestEvent): Promise<DemoLine> {
  const answers = await Promise.all(Array.from({ length: DUPLICATES }, () => send(event)));
  const count = (status: string) => answers.filter(({ body }) => body.status === status).length;
  const got = `${count("success")} success, ${count("already_processed")} already_processed`;
  const expected = `1 success, ${DUPLICATES - 1} already_processed`;
  return { what: `one payment_notify ${DUPLICATES} times at once`, got, isExpected: got === expected };
}
