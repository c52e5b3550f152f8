import type { Command } from "commander";
import type { BulkReplayView } from "../admin-client/index.ts";
import { callAdmin, type ListOptions, listCommand, printList, wholeNumber } from "./call-admin.ts";
import { timeText, type ZoneOptions } from "./output.ts";

const HEAD = ["id", "of", "state", "total", "succeeded", "already handled", "failed", "skipped", "filter", "by"];
const TIMES = ["started", "ended"];

export function bulkReplaysCommand(): Command {
  return listCommand("bulk-replays")
    .description("List the replays of many failures or handled events, newest first, or show one of them.")
    .argument("[id]", "only this one", wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option("--events", "the handled events that it did not run, and why")
    .action(async (id: number | undefined, options: ListOptions & { readonly events?: true }, command: Command) => {
      if (options.events === true) {
        if (id === undefined) return command.error("error: --events is of one bulk replay: give its id");
        return listUnreplayed(id, options);
      }
      const { limit, cursor } = options;
      const list = await callAdmin(options, async ({ bulkReplays }) =>
        id === undefined
          ? bulkReplays.list({ limit, cursor })
          : { items: [await bulkReplays.get(id)], next_cursor: null },
      );
      const rows = list.items.map((bulk) => cellsOf(bulk, options));
      printList(list, options, [...HEAD, ...TIMES], rows, "no bulk replay was started");
    });
}

async function listUnreplayed(id: number, options: ListOptions): Promise<void> {
  const { limit, cursor } = options;
  const list = await callAdmin(options, ({ bulkReplays }) => bulkReplays.unreplayed(id, { limit, cursor }));
  const rows = list.items.map(({ kind, source, event_id, code, error }) => {
    return [kind, source, event_id, code, error.split("\n", 1)[0] ?? ""];
  });
  const head = ["", "source", "event", "code", "why"];
  printList(list, options, head, rows, "all of its events were run again, or it is of failures");
}

function cellsOf(bulk: BulkReplayView, zone: ZoneOptions): string[] {
  const { id, scope, state, total, succeeded, already_handled, failed, skipped, filter, created_by } = bulk;
  const matched = Object.entries(filter).map(([name, value]) => `${name}=${value}`);
  return [
    ...[String(id), scope, state],
    ...[total, succeeded, already_handled, failed, skipped].map(String),
    matched.join(" ") || "all",
    created_by,
    ...[bulk.started_at, bulk.ended_at].map((at) => timeText(at, zone)),
  ];
}
