import type { Command } from "commander";
import type { ReconcileReport } from "../reconcile/index.ts";
import { wholeNumber } from "./call-admin.ts";
import { type ConfigurationOptions, configurationCommand, loadConfiguration } from "./load-configuration.ts";
import { counted, JSON_OPTION, type JsonOptions, printResult, shortText, table } from "./output.ts";
import { timeSpan, UsageError } from "./user-error.ts";

interface ReconcileOptions extends ConfigurationOptions, JsonOptions {
  readonly since: string;
  readonly until: string;
  readonly dryRun?: true;
  readonly maxPages: number;
  readonly wait: number;
}

const WHAT_IT_DOES = `
The source needs \`reconcile\` in oncehook.config.ts (docs/reconcile.md). Missing events are made durable, and the running
receiver handles them like any accepted event; without one they wait for its start. Exit code 1: something failed, was not
handled within --wait, or was not checked.`;

export function reconcileCommand(): Command {
  return configurationCommand("reconcile")
    .description("Ask a platform for events that never arrived, and have them handled.")
    .argument("<source>", "the name of the source in oncehook.config.ts")
    .option("--since <time>", "how far to look back, such as 90m, 12h or 2d", "1d")
    .option("--until <time>", "where to end, as long ago; younger events may be on their way", "5m")
    .option("--dry-run", "print what is missing, and change nothing")
    .option("--max-pages <count>", "how many pages to read", wholeNumber(1, 10_000), 500)
    .option("--wait <seconds>", "how long to wait until the events were handled", wholeNumber(0, 3_600), 30)
    .option(...JSON_OPTION)
    .addHelpText("after", WHAT_IT_DOES)
    .action(reconcile);
}

async function reconcile(source: string, options: ReconcileOptions): Promise<void> {
  const sinceMs = timeOf("--since", options.since);
  const untilMs = timeOf("--until", options.until);
  if (untilMs >= sinceMs)
    throw new UsageError(`--since: got ${options.since}, expected longer ago than --until, ${options.until}`);
  const { reconcileOnce } = await import("../app/index.ts");
  const loaded = await loadConfiguration(options, { listens: false });
  const isDryRun = options.dryRun === true;
  const askedFrom = Date.now() - sinceMs;
  const { maxPages, wait } = options;
  const asked = { source, sinceMs, untilMs, isDryRun, maxPages, waitMs: wait * 1_000 };
  const report = await reconcileOnce(loaded, asked);
  const shortened = shortenedText(report, options.since, askedFrom);
  printResult(options, report, () => shortened + reportText(report, isDryRun));
  if (!isWell(report)) process.exitCode = 1;
}

const timeOf = (option: string, text: string) => (text === "0" ? 0 : timeSpan(option, text, "such as 90m, 12h or 2d"));

function isWell({ events, isComplete }: ReconcileReport): boolean {
  const isGood = ({ outcome, state }: ReconcileReport["events"][number]) =>
    outcome === "missing" || (outcome === "accepted" && state === "handled");
  return isComplete && events.every(isGood);
}

const STATES = {
  handled: "handled",
  waiting: "failed; it is retried (oncehook failures)",
  exhausted: "retries exhausted (oncehook failures, oncehook replay)",
  rejected: "rejected by schema, handler or contract (oncehook failures, oncehook replay)",
  accepted: "durable; no receiver has run it yet",
};

/** Below it, the difference is the time that the start took. */
const SHORTENED_MS = 60_000;

function shortenedText({ source, from }: ReconcileReport, since: string, askedFrom: number): string {
  if (Date.parse(from) - askedFrom < SHORTENED_MS) return "";
  return `--since ${since}: ${source} lists no events that old; checked from ${from}\n`;
}

function reportText(report: ReconcileReport, isDryRun: boolean): string {
  const { source, from, to, events, counts, isComplete, stoppedBy } = report;
  // Its counts would say that nothing is missing.
  if (!isComplete && events.length === 0 && Object.values(counts).every((count) => count === 0))
    return `${source}: nothing was checked: ${stoppedBy ?? "the platform did not answer"}\n`;
  const rows = events.map(({ id, type, at, outcome, state, reason }) => {
    const accepted = state === undefined ? "missing; would be handled" : STATES[state];
    const end = outcome === "failed" ? `cannot be accepted: ${reason ?? ""}` : accepted;
    return [id, shortText(type), shortText(at), end];
  });
  const list = rows.length === 0 ? "" : `${table(["event", "type", "time", "state"], rows)}\n\n`;
  const known = `${counts.already_received} arrived already, ${counts.ignored} have no handler`;
  const missing = isDryRun ? counts.missing : counts.accepted;
  const done = isDryRun ? "nothing was changed" : "made durable for the receiver";
  const failed = counts.failed === 0 ? "" : `, ${counted(counts.failed, "event")} cannot be accepted`;
  const stopped = isComplete ? "" : `Incomplete: ${stoppedBy ?? ""}\n`;
  return `${list}${source} from ${from} to ${to}: ${counted(missing, "event")} missing (${done})${failed}; ${known}\n${stopped}`;
}
