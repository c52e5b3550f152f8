import { setTimeout as sleep } from "node:timers/promises";
import { type Command, Option } from "commander";
import type { AdminClient, BulkReplayView, ReplayView } from "../admin-client/index.ts";
import { maxAttemptMs } from "../app/index.ts";
import type { Config } from "../config/index.ts";
import { type AdminOptions, adminCommand, printAnswer, wholeNumber } from "./call-admin.ts";
import {
  askAboutEvent,
  type FailureFilterOptions,
  failureFilter,
  isEmpty,
  withFailureFilter,
} from "./look-up-commands.ts";
import { counted, escapeControls, type Given } from "./output.ts";

const MARGIN_MS = 5_000;
const BULK_OPTIONS = ["--all", "--state", "--type", "--code", "--problem", "--bulk-replay", "--per-second", "--wait"];

export function replayCommand(): Command {
  return withFailureFilter(adminCommand("replay"))
    .description("Run a failed event again, or all that the options mean. Exit code 0 when it is handled.")
    .argument("[event_id]", "the event, as `oncehook failures` lists it")
    .option("--source <source>", "where it came from (of one event: the one source that has it)")
    .option("--dry-run", "only show what it would do: everything is rolled back")
    .option("--all", "every failure there is")
    .option("--per-second <count>", "how many begin in a second (default: 10)", wholeNumber(1, 100))
    .option("--wait", "wait until all of them were run; exit code 1 when one failed again")
    .action(replay);
}

export function discardCommand(): Command {
  return adminCommand("discard")
    .description("Delete a failed event without running it: no retry of it is left. Its log entries stay.")
    .argument("<event_id>", "the event, as `oncehook failures` lists it")
    .option("--source <source>", "where it came from (default: the one source that has it)")
    .action(async (eventId: string, options: AdminOptions & Given<"source">) => {
      const wanted = { id: eventId, source: options.source, isFailure: true };
      const ask = (client: AdminClient) =>
        askAboutEvent(client, wanted, (found) => client.failures.discard(found).then(() => found));
      await printAnswer(options, ask, () => `the failure of ${escapeControls(eventId)} was discarded\n`);
    });
}

async function replay(eventId: string | undefined, options: BulkOptions, command: Command): Promise<void> {
  if (eventId === undefined) return bulkReplay(options, command);
  const given = (flag: string) => command.getOptionValueSource(new Option(flag).attributeName()) === "cli";
  const ofMany = BULK_OPTIONS.find(given);
  if (ofMany !== undefined) command.error(`error: ${ofMany} is for many failures: leave it out, or the event_id`);
  const wanted = { id: eventId, source: options.source, isFailure: true };
  const mode = { dry_run: options.dryRun ?? false };
  const longestMs = (config: Config) => maxAttemptMs(config) + MARGIN_MS;
  const ask = (client: AdminClient) => askAboutEvent(client, wanted, (key) => client.failures.replay(key, mode));
  const { outcome } = await printAnswer(options, ask, replaySummary, longestMs);
  if (outcome !== "success" && outcome !== "already_processed") process.exitCode = 1;
}

function replaySummary(view: ReplayView): string {
  const { outcome, result, error, dry_run } = view;
  const ending = `${outcome}${result === undefined ? "" : ` ${JSON.stringify(result)}`}`;
  const why = error === undefined ? "" : `${error}\n`;
  return `${dry_run ? "a dry run, rolled back" : "replayed"}: ${ending}\n${why}${dry_run ? dryRunLines(view) : ""}`;
}

function dryRunLines(view: ReplayView): string {
  const { statements = [], notifications = [], connection_used = false } = view;
  const lines = [
    ...statements.map(({ sql, rows }) => `${rows === null ? "failed" : counted(rows, "row")}  ${oneLine(sql)}`),
    ...omitted(view.statements_omitted, "statements"),
    ...(connection_used ? ["what it ran through tx.connection is not shown"] : []),
    ...(view.deferred_keys_unchecked === true
      ? ["deferred foreign keys, which a commit checks, were not checked"]
      : []),
    ...notifications.map(({ topic, payload }) => `notification ${oneLine(`${topic} ${JSON.stringify(payload)}`)}`),
    ...omitted(view.notifications_omitted, "notifications"),
  ];
  return lines.map((line) => `  ${line}\n`).join("");
}

function omitted(count = 0, what: string): string[] {
  return count === 0 ? [] : [`and ${count} more ${what}`];
}

function oneLine(text: string): string {
  return escapeControls(text.replace(/\s+/g, " "));
}

interface BulkOptions extends AdminOptions, FailureFilterOptions {
  readonly all?: true;
  readonly perSecond?: number;
  readonly wait?: true;
  readonly dryRun?: true;
}

const MISSING_ARGUMENT =
  "missing argument 'event_id', or for many --state, --problem, --type, --code or --source; --all is every failure";
const POLL_EVERY_MS = 500;

async function bulkReplay(options: BulkOptions, command: Command): Promise<void> {
  const filter = failureFilter(options);
  if (options.dryRun === true) command.error("error: --dry-run is for one event: give its event_id");
  if (options.all !== true && isEmpty(filter)) command.error(`error: ${MISSING_ARGUMENT}`);
  const start = async (client: AdminClient) => {
    const started = await client.bulkReplays.start({ filter, per_second: options.perSecond });
    return options.wait === true ? waitUntilEnded(client, started, options) : started;
  };
  const bulk = await printAnswer(options, start, bulkReplaySummary);
  if (bulk.state === "cancelled" || bulk.failed > 0) process.exitCode = 1;
}

async function waitUntilEnded({ bulkReplays }: AdminClient, started: BulkReplayView, { json }: BulkOptions) {
  let bulk = started;
  while (bulk.ended_at === null) {
    await sleep(POLL_EVERY_MS);
    const before = bulk;
    bulk = await bulkReplays.get(bulk.id);
    if (json !== true && (bulk.done !== before.done || bulk.state !== before.state))
      process.stderr.write(`${bulk.state}: ${bulk.done} of ${bulk.total}\n`);
  }
  return bulk;
}

function bulkReplaySummary({ id, state, total, ...counts }: BulkReplayView): string {
  if (counts.ended_at === null)
    return `bulk replay ${id} is ${state}: ${counted(total, "failure")}, max ${counts.per_second}/s\n`;
  const { succeeded, already_handled, failed } = counts;
  const again = failed === 0 ? "" : `those that failed: oncehook failures --bulk-replay ${id}\n`;
  return `bulk replay ${id} is ${state}: ${succeeded} succeeded, ${already_handled} already handled, ${failed} failed again, of ${total}\n${again}`;
}
