import { once } from "node:events";
import type { Command } from "commander";
import type { AdminClient, CallbackFilters, CallbackRowView } from "../admin-client/index.ts";
import { isVerified } from "../domain/index.ts";
import { type AdminOptions, adminCommand, callAdmin, wholeNumber } from "./call-admin.ts";
import { assertSource } from "./known-names.ts";
import {
  coloredStatus,
  escapeControls,
  escapedJson,
  eventColumns,
  type Given,
  shortText,
  timeText,
  UTC_OPTION,
  type ZoneOptions,
} from "./output.ts";

interface TailOptions
  extends AdminOptions,
    ZoneOptions,
    Given<"source" | "type" | "status" | "outcome" | "address" | "id" | "text"> {
  readonly last: number;
}

export function tailCommand(): Command {
  return adminCommand("tail")
    .description("Show callbacks as they are answered, until Ctrl-C. With --json, one line for each.")
    .option("--last <count>", "begin with so many, up to 200", wholeNumber(1, 200), 10)
    .option("--source <source>", "of this source alone")
    .option("--type <event_type>", "of this event type alone")
    .option("--status <status>", "answered with this status, or one of a class such as 4xx")
    .option("--outcome <outcomes>", "that ended so, such as signature_mismatch; several, separated by commas")
    .option("--address <remote_address>", "from this address alone")
    .option("--id <event_id>", "of this event alone")
    .option("--text <text>", "with this in the masked body")
    .option(...UTC_OPTION)
    .action(async (options: TailOptions) => {
      const over = new AbortController();
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => over.abort());
      await callAdmin(options, (client, isApplication) => {
        if (isApplication) process.stderr.write(`oncehook: ${LOOKS}\n`);
        return tail(client, options, over.signal);
      });
    });
}

const LOOKS =
  "looks twice a second for new callbacks in the application's database, until Ctrl-C; the application is not asked";

async function tail(client: AdminClient, options: TailOptions, signal: AbortSignal): Promise<void> {
  const { source, type, status, outcome, address, id, text } = options;
  // The receiver judges their values.
  const filters = { source, event_type: type, status, outcome, remote_address: address, event_id: id, text };
  const lines = linesOf(options);
  let seen: ReadonlySet<number> | undefined;
  for await (const one of client.live(filters, { signal })) {
    if (one.event === "disconnected") process.stderr.write("oncehook: the receiver does not answer; looking again\n");
    if (one.event === "reconnected") process.stderr.write("oncehook: the receiver answers again\n");
    if (one.event === "gap")
      process.stderr.write("oncehook: more came than could be shown; the callback log has all of them\n");
    // The stream is open, so that nothing is missed between the list and what follows.
    seen ??= await printLast(client, filters, options, lines);
    if (one.event === "callback" && !seen.has(one.callback.id)) await print([one.callback], lines);
  }
}

async function printLast(client: AdminClient, filters: CallbackFilters, options: TailOptions, lines: Lines) {
  const { callbacks } = client;
  const { items } = await callbacks.list({ ...filters, limit: options.last });
  // As JSON each line is whole, as those that follow from the stream are.
  const shown = options.json === true ? await Promise.all(items.map(({ id }) => callbacks.get(id))) : items;
  if (shown.length === 0) await assertSource(client, filters.source);
  await print(shown.toReversed(), lines);
  return new Set(items.map(({ id }) => id));
}

type Lines = (callback: CallbackRowView) => string;

async function print(callbacks: readonly CallbackRowView[], lines: Lines): Promise<void> {
  if (callbacks.length === 0) return;
  // Waits for a slow reader of the pipe.
  if (!process.stdout.write(`${callbacks.map(lines).join("\n")}\n`)) await once(process.stdout, "drain");
}

/** The lines of callbacks. A cause that comes again is not explained again. */
function linesOf(options: TailOptions): Lines {
  const explained = new Set<string>();
  return (callback) => {
    if (options.json === true) return escapedJson(callback);
    const line = lineOf(callback, options);
    // A receiver of an earlier version looks into nothing.
    const { diagnosis } = callback as Partial<CallbackRowView>;
    if (diagnosis == null) return line;
    const cause = JSON.stringify([callback.source, diagnosis.code, diagnosis.message]);
    if (explained.has(cause)) return line;
    // Senders choose parts of a message, so that there may be any number of causes.
    if (explained.size === MAX_EXPLAINED) explained.clear();
    explained.add(cause);
    return `${line}\n          ${escapeControls(`${diagnosis.message} ${diagnosis.remedy}`)}`;
  };
}

const MAX_EXPLAINED = 1_000;

function lineOf(callback: CallbackRowView, zone: ZoneOptions): string {
  const { response_status: status, processing_ms: ms, claimed } = callback;
  // The callback of several handlers has no event: each run has a line of its own.
  const named = isVerified(callback.outcome) ? claimed : null;
  return [
    timeText(callback.timestamp, zone),
    shortText(callback.source ?? "?").padEnd(10),
    coloredStatus(status),
    coloredStatus(status, callback.outcome.padEnd(18)),
    ...eventColumns(callback.event_type ?? named?.event_type ?? null, callback.event_id ?? named?.event_id ?? null),
    ms < 1 ? "<1 ms" : `${Math.round(ms)} ms`,
    escapeControls(callback.remote_address),
  ].join("  ");
}
