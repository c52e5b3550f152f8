import type { Command } from "commander";
import type { AdminClient, BackfillView } from "../admin-client/index.ts";
import type { BackfillReport } from "../app/index.ts";
import { callAdmin, type ListOptions, listCommand, printList, wholeNumber } from "./call-admin.ts";
import { type ConfigurationOptions, configurationCommand, loadConfiguration } from "./load-configuration.ts";
import {
  counted,
  type Given,
  JSON_OPTION,
  type JsonOptions,
  printResult,
  shortText,
  table,
  timeText,
  type ZoneOptions,
} from "./output.ts";
import { timeSpan } from "./user-error.ts";

interface BackfillOptions extends ConfigurationOptions, JsonOptions, Given<"type" | "since"> {
  readonly dryRun?: true;
  readonly includeFormer?: true;
  readonly rate: number;
}

const WHAT_IT_DOES = `
The history of a handler is in the originals of its source, those of events that no handler took among them, and in the
table \`events\`. Each event is accepted here, once for each handler, and a running receiver runs it. What a handler has had
stays as it is. If the command is stopped, a running receiver goes on: oncehook backfills <id> --cancel ends it.`;

export function backfillCommand(): Command {
  return configurationCommand("backfill")
    .description("Give a new handler the events of its types that came before it, once each.")
    .argument("<handler>", "stripe for all handlers of the source, stripe#audit for those of a name")
    .option("--type <type>", "events of this type; every one that has a handler when left out")
    .option("--since <time>", "events that arrived within it, such as 12h or 30d; all of them when left out")
    .option("--dry-run", "count the events, run the first 20 and roll them back; change nothing")
    .option("--include-former", "run events again that a handler of a former name has handled")
    .option("--rate <count>", "how many begin in a second, such as 50 or 50/s", perSecondOf, 10)
    .option(...JSON_OPTION)
    .addHelpText("after", WHAT_IT_DOES)
    .action(backfill);
}

const perSecondOf = (text: string) => wholeNumber(1, 1_000)(text.replace(/\/s$/, ""));

async function backfill(handler: string, options: BackfillOptions): Promise<void> {
  const { type, since, rate: perSecond } = options;
  const sinceMs = since === undefined ? Infinity : timeSpan("--since", since, "such as 12h or 30d");
  const { backfillOnce } = await import("../app/index.ts");
  const loaded = await loadConfiguration(options, { listens: false });
  const isDryRun = options.dryRun === true;
  const includesFormer = options.includeFormer === true;
  const report = await backfillOnce(loaded, { handler, type, sinceMs, includesFormer, isDryRun, perSecond });
  printResult(options, report, () => reportText(report));
}

function reportText(report: BackfillReport): string {
  const { handler, id, state, accepted, acceptedByType, alreadyTaken, ignored, ignoredByType } = report;
  const rowsOf = (counts: BackfillReport["acceptedByType"], note: string) =>
    Object.entries(counts).map(([type, count]) => [shortText(type), String(count), note]);
  const isDryRun = id === null;
  const rows = [
    ...rowsOf(acceptedByType, ""),
    ...(isDryRun ? rowsOf(ignoredByType, "no handler, or filtered out") : []),
  ];
  const list = rows.length === 0 ? "" : `${table(["type", "events", ""], rows)}\n\n`;
  const done = isDryRun ? "would be accepted; nothing was changed" : "accepted: a running receiver runs them";
  const ending = isDryRun ? sampleText(report) : `Backfill ${id} is ${state}: oncehook backfills ${id}\n`;
  return (
    `${list}${handler}: ${counted(accepted, "event")} ${done}; ${alreadyTaken} were already run, ` +
    `${ignored} have no handler or are filtered out\n${otherText(report)}${ending}`
  );
}

/** Events that did not run for another reason than that they had, or that nothing wants them. */
function otherText({ heldBackByHandler, erased, expired, unreadable }: BackfillReport): string {
  const heldBack = Object.entries(heldBackByHandler).map(
    ([former, count]) =>
      `${counted(count, "event")} of ${former}, which no handler is called now, did not run again: --include-former runs them too\n`,
  );
  const others = [
    [erased, "erased"],
    [expired, "past the time that their source keeps them"],
    [unreadable, "not readable: by another ENCRYPTION_KEY, or by the source as it is configured now"],
  ] as const;
  const lines = others.flatMap(([count, why]) => (count === 0 ? [] : [`${counted(count, "original")}: ${why}\n`]));
  return [...heldBack, ...lines].join("");
}

function sampleText({ sample: { run, failed }, unapplied }: Pick<BackfillReport, "sample" | "unapplied">): string {
  if (unapplied.length > 0)
    return `None was run, since a dry run applies no migrations (${unapplied.join(", ")}): oncehook migrate applies them.\n`;
  const rows = failed.map(({ type, id, reason }) => [shortText(type), shortText(id), shortText(reason)]);
  const list = rows.length === 0 ? "" : `\n${table(["type", "event", "reason"], rows)}\n`;
  return `Of the first ${counted(run, "event")}, run and rolled back, ${failed.length} would fail.\n${list}`;
}

interface BackfillsOptions extends ListOptions {
  readonly pause?: true;
  readonly resume?: true;
  readonly cancel?: true;
}

const HEAD = ["id", "state", "handler", "type", "accepted", "already run", "held back", "by", "started", "ended"];

export function backfillsCommand(): Command {
  return listCommand("backfills")
    .description("List the backfills, newest first; show, pause, resume or cancel one of them.")
    .argument("[id]", "only this one", wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option("--pause", "accept no more of its events for now")
    .option("--resume", "go on with a paused one")
    .option("--cancel", "end it for good; events that it has accepted run all the same")
    .action(async (id: number | undefined, options: BackfillsOptions, command: Command) => {
      const change = (["pause", "resume", "cancel"] as const).find((verb) => options[verb] === true);
      if (id === undefined && change !== undefined)
        command.error(`error: --${change} is for one backfill: give its id`);
      const { limit, cursor } = options;
      const list = await callAdmin(options, async ({ backfills }: AdminClient) =>
        id === undefined
          ? backfills.list({ limit, cursor })
          : { items: [await (change === undefined ? backfills.get(id) : backfills[change](id))], next_cursor: null },
      );
      const rows = list.items.map((one) => cellsOf(one, options));
      printList(list, options, HEAD, rows, "no backfill was started");
    });
}

function cellsOf(backfill: BackfillView, zone: ZoneOptions): string[] {
  const { id, state, handler, event_type, accepted, already_taken, held_back, created_by } = backfill;
  return [
    ...[String(id), state, handler, event_type ?? "all"],
    ...[accepted, already_taken, held_back].map(String),
    created_by,
    ...[backfill.started_at, backfill.ended_at].map((at) => timeText(at, zone)),
  ];
}
