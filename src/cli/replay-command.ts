import type { Command } from "commander";
import type { ReplayView } from "../admin-client/index.ts";
import { longestRunMs } from "../app/index.ts";
import type { Config } from "../config/index.ts";
import { type AdminOptions, askAdmin } from "./ask-admin.ts";
import { type BulkOptions, bulkReplay } from "./bulk-replay.ts";
import { withFilter } from "./failure-filter.ts";
import { type JsonOptions, printResult } from "./json-output.ts";
import { askingCommand } from "./look-up-commands.ts";
import { withoutControls } from "./plain.ts";
import { wholeNumber } from "./whole-number.ts";

const MARGIN_MS = 5_000;
const OF_MANY = ["all", "state", "type", "code", "perSecond", "wait"] as const;
const WELL_ENDED: readonly string[] = ["success", "already_processed"];

export function replayCommand(): Command {
  return withFilter(askingCommand("replay"))
    .description(
      "Run a failed event again, now; without an event_id, all failures that the options mean. Exit code 0 when it is handled in the end.",
    )
    .argument("[event_id]", "the event, as `oncehook failures` lists it")
    .option("--source <source>", "where it came from (of one event: platform)")
    .option("--dry-run", "only show what it would do: everything is rolled back")
    .option("--all", "every failure there is")
    .option(
      "--per-second <count>",
      "how many may begin in a second, up to 100 (default: 10)",
      wholeNumber(1, 100),
    )
    .option("--wait", "wait until all of them were run; exit code 1 when one failed again")
    .action(replay);
}

/** Removes a failure without running it. */
export function discardCommand(): Command {
  return askingCommand("discard")
    .description("Delete a failed event without running it: no retry of it is left. Its log entries stay.")
    .argument("<event_id>", "the event, as `oncehook failures` lists it")
    .option("--source <source>", "where it came from", "platform")
    .action(async (eventId: string, options: AdminOptions & JsonOptions & { readonly source: string }) => {
      const key = { source: options.source, event_id: eventId };
      await askAdmin(options, ({ failures }) => failures.discard(key));
      printResult(options, key, () => `the failure of ${withoutControls(eventId)} was discarded\n`);
    });
}

async function replay(eventId: string | undefined, options: BulkOptions, command: Command): Promise<void> {
  if (eventId === undefined) return bulkReplay(options, command);
  const ofMany = OF_MANY.find((name) => options[name] !== undefined);
  if (ofMany !== undefined)
    command.error(`error: --${dashed(ofMany)} is for many failures: leave it out, or the event_id`);
  const key = { source: options.source ?? "platform", event_id: eventId };
  const mode = { dry_run: options.dryRun ?? false };
  const replayed = await askAdmin(options, ({ failures }) => failures.replay(key, mode), longestReplayMs);
  printResult(options, replayed, () => sentence(replayed));
  if (!WELL_ENDED.includes(replayed.outcome)) process.exitCode = 1;
}

function longestReplayMs(config: Config): number {
  return longestRunMs(config) + MARGIN_MS;
}

function sentence(view: ReplayView): string {
  const { outcome, result, error, dry_run } = view;
  const ending = `${outcome}${result === undefined ? "" : ` ${JSON.stringify(result)}`}`;
  const why = error === undefined ? "" : `${error}\n`;
  return `${dry_run ? "a dry run, rolled back" : "replayed"}: ${ending}\n${why}${dry_run ? deeds(view) : ""}`;
}

/** What a dry run did, a line each. */
function deeds(view: ReplayView): string {
  const { statements = [], notifications = [], connection_used = false } = view;
  const lines = [
    ...statements.map(({ sql, rows }) => `${rowsText(rows)}  ${oneLine(sql)}`),
    ...omitted(view.statements_omitted, "statements"),
    ...(connection_used ? ["what it ran through tx.connection is not shown"] : []),
    ...(view.deferred_keys_unchecked === true
      ? ["deferred foreign keys, which a commit checks, were not checked"]
      : []),
    ...notifications.map(
      ({ topic, payload }) => `notification ${oneLine(`${topic} ${JSON.stringify(payload)}`)}`,
    ),
    ...omitted(view.notifications_omitted, "notifications"),
  ];
  return lines.map((line) => `  ${line}\n`).join("");
}

function rowsText(rows: number | null): string {
  if (rows === null) return "failed";
  return rows === 1 ? "1 row" : `${rows} rows`;
}

function omitted(count = 0, what: string): string[] {
  return count === 0 ? [] : [`and ${count} more ${what}`];
}

function oneLine(text: string): string {
  return withoutControls(text.replace(/\s+/g, " "));
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
