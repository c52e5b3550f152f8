import { createReadStream } from "node:fs";
import type { Command } from "commander";
import { fileErrorText } from "../domain/index.ts";
import type { ImportReport } from "../retry/index.ts";
import { type ConfigurationOptions, configurationCommand, loadConfiguration } from "./load-configuration.ts";
import { counted, type Given, JSON_OPTION, type JsonOptions, printResult } from "./output.ts";
import { seenLines } from "./seen-lines.ts";
import { UserError } from "./user-error.ts";

interface ImportOptions extends ConfigurationOptions, JsonOptions, Given<"tenant"> {
  readonly file: string;
  readonly dryRun?: true;
}

const INPUT = `
The input is one id a line; or CSV, whose first line names its columns (id, type, processed_at); or one JSON object a line
with these fields. Without a type an event counts as handled for every handler of the source. The exit code is 1 where a line
is refused; the others are imported, and running it again changes nothing.`;

export function importSeenCommand(): Command {
  return configurationCommand("import-seen")
    .description("Record the events that another program handled, so that their redeliveries run no handler.")
    .argument("<source>", "the name of the source, such as stripe")
    .option("--file <file>", "the ids of those events; - for standard input", "-")
    .option("--tenant <name>", "the tenant whose events they are, of a source that has tenants")
    .option("--dry-run", "read and count everything; change nothing")
    .option(...JSON_OPTION)
    .addHelpText("after", INPUT)
    .action(importSeen);
}

async function importSeen(source: string, options: ImportOptions): Promise<void> {
  const { file, tenant } = options;
  const { importSeenOnce } = await import("../app/index.ts");
  const loaded = await loadConfiguration(options, { listens: false });
  const isDryRun = options.dryRun === true;
  const input = file === "-" ? process.stdin : readFile(file);
  const report = await importSeenOnce(loaded, { source, tenant, isDryRun, events: seenLines(input) });
  printResult(options, report, () => reportText(report, isDryRun));
  if (report.refused > 0) process.exitCode = 1;
}

async function* readFile(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file);
  } catch (cause) {
    throw new UserError(`--file: got ${JSON.stringify(file)}, which ${fileErrorText(cause)}`, { cause });
  }
}

function reportText({ source, imported, alreadyThere, refused, reasons }: ImportReport, isDryRun: boolean): string {
  const done = isDryRun ? "would be imported; nothing was changed" : "imported";
  const lines = reasons.map(({ line, reason }) => `line ${line}: ${reason}\n`).join("");
  const more = refused > reasons.length ? `and ${refused - reasons.length} more\n` : "";
  return `${source}: ${counted(imported, "event")} ${done}; ${alreadyThere} already there, ${refused} refused\n${lines}${more}`;
}
