import { setTimeout as sleep } from "node:timers/promises";
import { type Command, Option } from "commander";
import {
  type AdminClient,
  AdminError,
  type BulkReplayTrialView,
  type BulkReplayView,
  type EventKey,
  type ReplayView,
} from "../admin-client/index.ts";
import type { Config } from "../config/index.ts";
import { type AdminOptions, adminCommand, callAdmin, printAnswer, wholeNumber } from "./call-admin.ts";
import { assertSource } from "./known-names.ts";
import {
  askAboutEvent,
  type FailureFilterOptions,
  failureFilter,
  isEmpty,
  UnknownEventError,
  withFailureFilter,
} from "./look-up-commands.ts";
import { counted, escapeControls, type Given, printResult } from "./output.ts";
import {
  type HandledOptions,
  handledFilter,
  mayStart,
  noneHandled,
  sampleLine,
  trialHead,
} from "./replay-handled-events.ts";
import { UserError } from "./user-error.ts";

const MARGIN_MS = 5_000;
/** For so long the receiver goes on with the sample of a dry run. */
const SAMPLE_MS = 10_000;
const MISSING_REASON = 'error: --reason: missing; say why it is run again, as --reason "the tax was wrong"';
const BULK_OPTIONS = [
  "--handled",
  "--from",
  "--to",
  "--all",
  "--state",
  "--type",
  "--code",
  "--problem",
  "--bulk-replay",
  "--per-second",
  "--wait",
];

const maxAttemptMs = async (config: Config) => (await import("../app/index.ts")).maxAttemptMs(config);

export function replayCommand(): Command {
  return withFailureFilter(adminCommand("replay"))
    .description("Run an event again: a failed one, all that the options mean, or with --force one that was handled.")
    .argument("[event_id]", "the event, as `oncehook failures` or `oncehook events` lists it")
    .option("--source <source>", "where it came from (of one event: the one source that has it)")
    .option("--dry-run", "only show what it would do: everything is rolled back")
    .option("--force", "run a handled event again, after a dry run; its result replaces the earlier one")
    .option("--reason <text>", "why, with --force: for the audit log")
    .option("--handled", "handled events of --source and --type, between --from and --to, instead of failures")
    .option("--from <time>", "with --handled: handled since then, as an age (1d) or in ISO 8601")
    .option("--to <time>", "with --handled: handled before it")
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
  const { force, reason, dryRun } = options;
  if (force !== true && reason !== undefined) command.error("error: --reason is for --force: add it");
  if (eventId === undefined)
    return options.handled ? replayManyHandled(options, command) : bulkReplay(options, command);
  const given = (flag: string) => command.getOptionValueSource(new Option(flag).attributeName()) === "cli";
  const ofMany = BULK_OPTIONS.find(given);
  if (ofMany !== undefined) command.error(`error: ${ofMany} is for many failures: leave it out, or the event_id`);
  if (force === true && dryRun === true) command.error("error: --force writes, and --dry-run does not: leave one out");
  if (force === true && reason === undefined) command.error(MISSING_REASON);
  const ask = (client: AdminClient) =>
    reason === undefined
      ? replayFailure(client, eventId, options)
      : replayHandled(client, { id: eventId, source: options.source, reason });
  const longestMs = async (config: Config) => 2 * (await maxAttemptMs(config)) + MARGIN_MS;
  const { views, isRefused } = await callAdmin(options, ask, longestMs);
  const last = views.at(-1) as ReplayView;
  printResult(options, last, () => views.map(replaySummary).join(""));
  if (isRefused)
    throw new UserError(
      `${eventId} is handled already, and nothing was changed; to run it again: ` +
        `oncehook replay ${eventId} --force --reason "why"`,
    );
  if (last.outcome !== "success" && last.outcome !== "already_processed") process.exitCode = 1;
}

interface Replayed {
  /** In the order in which they were made. */
  readonly views: readonly ReplayView[];
  /** Whether a handled event was to be run again without `--force`. */
  readonly isRefused: boolean;
}

/** A failure is run at once. Of a handled event only a dry run is made. */
async function replayFailure(client: AdminClient, id: string, options: BulkOptions): Promise<Replayed> {
  const { source, dryRun: dry_run = false } = options;
  const replayOne = (key: EventKey) => client.failures.replay(key, { dry_run });
  try {
    return { views: [await askAboutEvent(client, { id, source, isFailure: true }, replayOne)], isRefused: false };
  } catch (cause) {
    if (!isNotFound(cause)) throw cause;
    const view = await askAboutEvent(client, { id, source, isFailure: false }, client.events.dryRun).catch(
      (error: unknown) => {
        throw isNotFound(error) ? cause : error;
      },
    );
    return { views: [view], isRefused: !dry_run };
  }
}

/** The replay would fail where its dry run fails. One that was rejected may be so only for its `prepare` step. */
const GOES_ON: ReadonlySet<string> = new Set(["success", "rejected"]);

async function replayHandled(
  client: AdminClient,
  { id, source, reason }: { readonly id: string; readonly source: string | undefined; readonly reason: string },
): Promise<Replayed> {
  return askAboutEvent(client, { id, source, isFailure: false }, async (key) => {
    const dry = await client.events.dryRun(key);
    const views = GOES_ON.has(dry.outcome) ? [dry, await client.events.replay(key, reason)] : [dry];
    return { views, isRefused: false };
  });
}

function isNotFound(error: unknown): boolean {
  if (error instanceof UnknownEventError) return true;
  return error instanceof AdminError && error.status === 404;
}

function replaySummary(view: ReplayView): string {
  const { outcome, result, error, dry_run, earlier } = view;
  const ending = `${outcome}${result === undefined ? "" : ` ${JSON.stringify(result)}`}`;
  const why = error === undefined ? "" : `${error}\n`;
  const before = earlier === undefined ? "" : `its earlier result: ${JSON.stringify(earlier.result)}\n`;
  if (dry_run) return `a dry run, rolled back: ${ending}\n${why}${dryRunLines(view)}`;
  return `replayed: ${ending}\n${why}${before}`;
}

function dryRunLines(view: ReplayView): string {
  const { statements = [], notifications = [], connection_used = false } = view;
  const lines = [
    ...statements.map((one) => `${one.rows === null ? "failed" : counted(one.rows, "row")}  ${statementText(one)}`),
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

function statementText({ sql, values, values_omitted }: NonNullable<ReplayView["statements"]>[number]): string {
  const given = [...values.map((value) => JSON.stringify(value)), ...omitted(values_omitted, "values")];
  return oneLine(given.length === 0 ? sql : `${sql}  -- ${given.join(", ")}`);
}

function omitted(count = 0, what: string): string[] {
  return count === 0 ? [] : [`and ${count} more ${what}`];
}

function oneLine(text: string): string {
  return escapeControls(text.replace(/\s+/g, " "));
}

interface BulkOptions extends AdminOptions, FailureFilterOptions, HandledOptions {
  readonly all?: true;
  readonly perSecond?: number;
  readonly wait?: true;
  readonly dryRun?: true;
}

const MISSING_ARGUMENT =
  "missing argument 'event_id', or for many --state, --problem, --type, --code or --source; --all is every failure";
const POLL_EVERY_MS = 500;

const OF_FAILURES = ["state", "code", "problem", "bulkReplay", "all"] as const;

/** Without `--force` it only counts, and makes the dry run of the first event. */
async function replayManyHandled(options: BulkOptions, command: Command): Promise<void> {
  const { force, reason, dryRun, perSecond: per_second } = options;
  const wrong = OF_FAILURES.find((name) => options[name] !== undefined);
  if (wrong !== undefined) command.error("error: --handled takes --source, --type, --from and --to");
  if (force === true && dryRun === true) command.error("error: --force writes, and --dry-run does not: leave one out");
  if (force === true && reason === undefined) command.error(MISSING_REASON);
  const filter = handledFilter(options);
  const longestMs = async (config: Config) => (await maxAttemptMs(config)) + SAMPLE_MS + MARGIN_MS;
  const words = (trial: BulkReplayTrialView) =>
    trialHead(trial) + (trial.first?.replay == null ? "" : replaySummary(trial.first.replay)) + sampleLine(trial);
  const isJson = options.json === true;
  const ask = async (client: AdminClient) => {
    const tried = await client.bulkReplays.dryRunHandled(filter);
    if (tried.total === 0) await assertSource(client, filter.source);
    return tried;
  };
  const trial = await callAdmin(options, ask, longestMs);
  if (!isJson || force !== true) printResult(options, trial, () => words(trial));
  if (trial.total === 0) throw new UserError(noneHandled(filter));
  if (dryRun === true) return;
  if (reason === undefined) throw new UserError('nothing was changed; to run them again, add --force --reason "why"');
  if (!mayStart(trial)) {
    process.exitCode = 1;
    return;
  }
  const start = async (client: AdminClient) => {
    const started = await client.bulkReplays.startHandled({ filter, reason, per_second });
    return options.wait === true ? waitUntilEnded(client, started, options) : started;
  };
  const bulk = await printAnswer(options, start, bulkReplaySummary);
  if (bulk.state === "cancelled" || bulk.failed > 0) process.exitCode = 1;
}

async function bulkReplay(options: BulkOptions, command: Command): Promise<void> {
  const filter = failureFilter(options);
  if (options.force === true) command.error("error: --force is for handled events: give an event_id, or --handled");
  if (options.from !== undefined || options.to !== undefined)
    command.error("error: --from and --to are for handled events: add --handled");
  if (options.dryRun === true) command.error("error: --dry-run is for one event: give its event_id");
  if (options.all !== true && isEmpty(filter)) command.error(`error: ${MISSING_ARGUMENT}`);
  const start = async (client: AdminClient) => {
    await assertSource(client, filter.source);
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

function bulkReplaySummary({ id, scope, state, total, ...counts }: BulkReplayView): string {
  const what = scope === "events" ? "handled event" : "failure";
  if (counts.ended_at === null)
    return `bulk replay ${id} is ${state}: ${counted(total, what)}, max ${counts.per_second}/s\n`;
  const { succeeded, already_handled, failed, skipped } = counts;
  if (scope === "events") {
    const others = failed + skipped === 0 ? "" : `the others: oncehook bulk-replays ${id} --events\n`;
    return `bulk replay ${id} is ${state}: ${succeeded} succeeded, ${failed} failed, ${skipped} skipped, of ${total}\n${others}`;
  }
  const again = failed === 0 ? "" : `those that failed: oncehook failures --bulk-replay ${id}\n`;
  return `bulk replay ${id} is ${state}: ${succeeded} succeeded, ${already_handled} already handled, ${failed} failed again, of ${total}\n${again}`;
}
