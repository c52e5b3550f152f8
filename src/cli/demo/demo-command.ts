import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Command } from "commander";
import { table } from "../output.ts";
import { UserError } from "../user-error.ts";
import { startDemoReceiver } from "./demo-receiver.ts";
import type { DemoLine } from "./demo-steps.ts";

export function demoCommand(): Command {
  return new Command("demo")
    .description(
      "Start a receiver on a temporary database, send it valid and invalid callbacks, and show the results.",
    )
    .action(demo);
}

async function demo(): Promise<void> {
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
  const { sendAll } = await import("./demo-steps.ts");
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
