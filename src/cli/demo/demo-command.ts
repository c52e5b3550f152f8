import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { table } from "../table.ts";
import { UserMistake } from "../user-mistake.ts";
import { stored } from "./demo-database.ts";
import { startDemoReceiver } from "./demo-receiver.ts";
import type { Line } from "./demo-steps.ts";

export function demoCommand(): Command {
  return new Command("demo")
    .description(
      "Start a receiver on a temporary database, send it callbacks good and bad, and show what it made of them.",
    )
    .action(demo);
}

async function demo(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-demo-"));
  try {
    const lines = await run(folder);
    const wrong = lines.filter(({ right }) => !right);
    if (wrong.length > 0)
      throw new UserMistake(`${wrong.length} of ${lines.length} answers were not as they should be`);
    process.stdout.write(`\nAll ${lines.length} as they should be: every event was handled exactly once.\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function run(folder: string): Promise<Line[]> {
  const { sendAll } = await import("./demo-steps.ts");
  const file = join(folder, "oncehook.db");
  const receiver = await startDemoReceiver(file);
  try {
    process.stdout.write(`A receiver on ${receiver.url}, its store in ${file}\n\n`);
    const answers = await sendAll(receiver);
    process.stdout.write(
      `${table(["callback", "answer", ""], answers.map(cells))}\n\nWhat is in the database now\n\n`,
    );
    const rows = stored(file);
    process.stdout.write(`${table(["what", "found", ""], rows.map(cells))}\n`);
    return [...answers, ...rows];
  } finally {
    await receiver.stop();
  }
}

function cells({ what, got, right }: Line): string[] {
  return [what, got, right ? "ok" : "WRONG"];
}
