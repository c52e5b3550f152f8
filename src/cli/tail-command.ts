import { once } from "node:events";
import type { Command } from "commander";
import type { AdminClient, CallbackFilters, CallbackView } from "../admin-client/index.ts";
import { type AdminOptions, adminCommand, callAdmin, wholeNumber } from "./call-admin.ts";
import { coloredStatus, escapeControls, escapedJson, eventColumns, type Given, timeOfDay } from "./output.ts";

interface TailOptions
  extends AdminOptions,
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
    .action(async (options: TailOptions) => {
      const over = new AbortController();
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => over.abort());
      await callAdmin(options, (client) => tail(client, options, over.signal));
    });
}

async function tail(client: AdminClient, options: TailOptions, signal: AbortSignal): Promise<void> {
  const { source, type, status, outcome, address, id, text } = options;
  // The receiver judges their values.
  const filters = { source, event_type: type, status, outcome, remote_address: address, event_id: id, text };
  let seen: ReadonlySet<number> | undefined;
  for await (const one of client.live(filters, { signal })) {
    if (one.event === "disconnected") process.stderr.write("oncehook: the receiver does not answer; looking again\n");
    if (one.event === "reconnected") process.stderr.write("oncehook: the receiver answers again\n");
    if (one.event === "gap")
      process.stderr.write("oncehook: more came than could be shown; the callback log has all of them\n");
    // The stream is open, so that nothing is missed between the list and what follows.
    seen ??= await printLast(client, filters, options);
    if (one.event === "callback" && !seen.has(one.callback.id)) await print([one.callback], options);
  }
}

async function printLast({ callbacks }: AdminClient, filters: CallbackFilters, options: TailOptions) {
  const { items } = await callbacks.list({ ...filters, limit: options.last });
  await print(items.toReversed(), options);
  return new Set(items.map(({ id }) => id));
}

async function print(callbacks: readonly CallbackView[], { json }: TailOptions): Promise<void> {
  if (callbacks.length === 0) return;
  const lines = callbacks.map((callback) => (json === true ? escapedJson(callback) : lineOf(callback)));
  // Waits for a slow reader of the pipe.
  if (!process.stdout.write(`${lines.join("\n")}\n`)) await once(process.stdout, "drain");
}

function lineOf(callback: CallbackView): string {
  const line = [
    timeOfDay(callback.timestamp),
    coloredStatus(callback.response_status),
    callback.outcome.padEnd(18),
    ...eventColumns(callback.event_type, callback.event_id),
    `${Math.round(callback.processing_ms)} ms`,
    escapeControls(callback.remote_address),
  ].join("  ");
  // A receiver of an earlier version looks into nothing.
  const { diagnosis } = callback as Partial<CallbackView>;
  return diagnosis == null ? line : `${line}\n          ${escapeControls(`${diagnosis.message} ${diagnosis.remedy}`)}`;
}
