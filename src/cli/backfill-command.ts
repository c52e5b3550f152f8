import type { Command } from "commander";
import { backfillOnce } from "../app/index.ts";
import type { BackfillReport } from "../retry/index.ts";
import { wholeNumber } from "./call-admin.ts";
import { type ConfigurationOptions, configurationCommand, loadConfiguration } from "./load-configuration.ts";
import { counted, type Given, JSON_OPTION, type JsonOptions, printResult, shortText, table } from "./output.ts";
import { timeSpan } from "./user-error.ts";

interface BackfillOptions extends ConfigurationOptions, JsonOptions, Given<"type" | "since"> {
  readonly dryRun?: true;
  readonly rate: number;
}

const WHAT_IT_DOES = `
Events that arrived before their source had a handler are in the table \`events\`. Each of them is accepted here, once for each
handler of its type, and a running receiver runs it. The command may be stopped and run again, beside a receiver and beside
another one of its kind.`;

export function backfillCommand(): Command {
  return configurationCommand("backfill")
    .description("Run a source's handlers for the events that were stored before it had any.")
    .argument("<source>", "the name of the source")
    .option("--type <type>", "events of this type; every one that has a handler when left out")
    .option("--since <time>", "events that arrived within it, such as 12h or 30d; all of them when left out")
    .option("--dry-run", "count the events, run the first 20 and roll them back; change nothing")
    .option("--rate <count>", "how many begin in a second, such as 50 or 50/s", perSecondOf, 10)
    .option(...JSON_OPTION)
    .addHelpText("after", WHAT_IT_DOES)
    .action(backfill);
}

const perSecondOf = (text: string) => wholeNumber(1, 1_000)(text.replace(/\/s$/, ""));

async function backfill(source: string, options: BackfillOptions): Promise<void> {
  const { type, since, rate: perSecond } = options;
  const sinceMs = since === undefined ? Infinity : timeSpan("--since", since, "such as 12h or 30d");
  const loaded = await loadConfiguration(options, { listens: false });
  const isDryRun = options.dryRun === true;
  const report = await backfillOnce(loaded, { source, type, sinceMs, isDryRun, perSecond });
  printResult(options, report, () => reportText(report, isDryRun));
}

function reportText(
  { source, accepted, acceptedByType, alreadyTaken, ignored, ignoredByType, ...rest }: BackfillReport,
  isDryRun: boolean,
): string {
  const rowsOf = (counts: BackfillReport["acceptedByType"], note: string) =>
    Object.entries(counts).map(([type, count]) => [shortText(type), String(count), note]);
  const rows = [
    ...rowsOf(acceptedByType, ""),
    ...(isDryRun ? rowsOf(ignoredByType, "no handler, or filtered out") : []),
  ];
  const list = rows.length === 0 ? "" : `${table(["type", "events", ""], rows)}\n\n`;
  const done = isDryRun ? "would be accepted; nothing was changed" : "accepted: a running receiver runs them";
  return (
    `${list}${source}: ${counted(accepted, "event")} ${done}; ${alreadyTaken} were taken before, ` +
    `${ignored} have no handler or are filtered out\n${isDryRun ? sampleText(rest) : ""}`
  );
}

function sampleText({ sample: { run, failed }, unapplied }: Pick<BackfillReport, "sample" | "unapplied">): string {
  if (unapplied.length > 0)
    return `None was run, since a dry run applies no migrations (${unapplied.join(", ")}): oncehook migrate applies them.\n`;
  const rows = failed.map(({ type, id, reason }) => [shortText(type), shortText(id), shortText(reason)]);
  const list = rows.length === 0 ? "" : `\n${table(["type", "event", "reason"], rows)}\n`;
  return `Of the first ${counted(run, "event")}, run and rolled back, ${failed.length} would fail.\n${list}`;
}
