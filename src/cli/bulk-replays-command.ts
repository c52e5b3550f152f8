import type { Command } from "commander";
import type { BulkReplayView } from "../admin-client/index.ts";
import { callAdmin, type ListOptions, listCommand, printList, wholeNumber } from "./call-admin.ts";
import { timeText, type ZoneOptions } from "./output.ts";

const HEAD = ["id", "state", "total", "succeeded", "already handled", "failed", "filter", "by", "started", "ended"];

export function bulkReplaysCommand(): Command {
  return listCommand("bulk-replays")
    .description("List the replays of many failures, newest first, or show one of them.")
    .argument("[id]", "only this one", wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .action(async (id: number | undefined, options: ListOptions) => {
      const { limit, cursor } = options;
      const list = await callAdmin(options, async ({ bulkReplays }) =>
        id === undefined
          ? bulkReplays.list({ limit, cursor })
          : { items: [await bulkReplays.get(id)], next_cursor: null },
      );
      const rows = list.items.map((bulk) => cellsOf(bulk, options));
      printList(list, options, HEAD, rows, "no bulk replay was started");
    });
}

function cellsOf(bulk: BulkReplayView, zone: ZoneOptions): string[] {
  const { id, state, total, succeeded, already_handled, failed, filter, created_by } = bulk;
  const matched = Object.entries(filter).map(([name, value]) => `${name}=${value}`);
  return [
    ...[String(id), state],
    ...[total, succeeded, already_handled, failed].map(String),
    matched.join(" ") || "all",
    created_by,
    ...[bulk.started_at, bulk.ended_at].map((at) => timeText(at, zone)),
  ];
}
