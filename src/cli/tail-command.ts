import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { type AdminClient, AdminError, type CallbackView, everyOf } from "../admin-client/index.ts";
import { type AdminOptions, askAdmin } from "./ask-admin.ts";
import { coloredStatus, eventColumns, timeOfDay } from "./callback-line.ts";
import type { JsonOptions } from "./json-output.ts";
import { askingCommand } from "./look-up-commands.ts";
import { withoutControls } from "./plain.ts";

interface TailOptions extends AdminOptions, JsonOptions {
  readonly last: string;
}

const LOOK_EVERY_MS = 1_000;
const PAGE = 200;

export function tailCommand(): Command {
  return askingCommand("tail")
    .description(
      "Show callbacks as the running receiver answers them, until Ctrl-C. With --json, one line for each.",
    )
    .option("--last <count>", "begin with so many of those that have come, up to 200", "10")
    .action(async (options: TailOptions) => {
      const over = new AbortController();
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => over.abort());
      await askAdmin(options, (client) => tail(client, options, over.signal));
    });
}

async function tail(client: AdminClient, options: TailOptions, over: AbortSignal): Promise<void> {
  const { items } = await client.callbacks.list({ limit: Number(options.last) });
  await print(items.toReversed(), options);
  const seen = new Set(items.map(({ id }) => id));
  // What is older than the first one shown was not asked for.
  const floor = items.at(-1)?.id ?? 0;
  let isAway = false;
  while (!over.aborted) {
    await sleep(LOOK_EVERY_MS, undefined, { signal: over }).catch(() => {});
    try {
      const fresh = await freshOf(client, seen, floor);
      if (isAway) process.stderr.write("oncehook: the receiver answers again\n");
      isAway = false;
      await print(fresh, options);
    } catch (error) {
      // It has answered before: it is being restarted, most likely, and what comes meanwhile is in its log.
      if (error instanceof AdminError && error.status < 500) throw error;
      if (!isAway) process.stderr.write("oncehook: the receiver does not answer; looking again\n");
      isAway = true;
    }
  }
}

/**
 * Whatever was not seen yet, oldest first. Of several processes on one PostgreSQL the one with the lower id may be there
 * later, so that a page is looked at again.
 */
async function freshOf(
  { callbacks }: AdminClient,
  seen: Set<number>,
  floor: number,
): Promise<CallbackView[]> {
  const newest = Math.max(floor, ...seen);
  const fresh: CallbackView[] = [];
  for await (const callback of everyOf((paging) => callbacks.list({ ...paging, limit: PAGE }))) {
    if (callback.id <= Math.max(floor, newest - PAGE)) break;
    if (!seen.has(callback.id)) fresh.push(callback);
  }
  for (const { id } of fresh) seen.add(id);
  for (const id of seen) if (id <= newest - PAGE) seen.delete(id);
  return fresh.reverse();
}

async function print(callbacks: readonly CallbackView[], { json }: TailOptions): Promise<void> {
  if (callbacks.length === 0) return;
  const lines = callbacks.map((callback) => (json === true ? JSON.stringify(callback) : lineOf(callback)));
  // Whoever reads slowly, over a pipe, is waited for.
  if (!process.stdout.write(`${lines.join("\n")}\n`)) await once(process.stdout, "drain");
}

function lineOf(callback: CallbackView): string {
  const line = [
    timeOfDay(callback.timestamp),
    coloredStatus(callback.response_status),
    callback.outcome.padEnd(18),
    ...eventColumns(callback.event_type, callback.event_id),
    `${Math.round(callback.processing_ms)} ms`,
    callback.remote_address,
  ].join("  ");
  // A receiver of an earlier version looks into nothing.
  const { diagnosis } = callback as Partial<CallbackView>;
  return diagnosis == null
    ? line
    : `${line}\n          ${withoutControls(`${diagnosis.says} ${diagnosis.do}`)}`;
}
