import type { Command } from "commander";
import { type AdminClient, AdminError, type CallbackView, type EventHistoryView } from "../admin-client/index.ts";
import { hasFrames, isVerified, PLATFORM, parseJson, splitFrames } from "../domain/index.ts";
import { type AdminOptions, adminCommand, callAdmin } from "./call-admin.ts";
import { soleSourceOf, timelineTable } from "./look-up-commands.ts";
import {
  counted,
  dateTimeText,
  escapeControls,
  escapeLines,
  type Given,
  printResult,
  UTC_OPTION,
  type ZoneOptions,
} from "./output.ts";
import { UserError } from "./user-error.ts";

interface Shown {
  readonly event: EventHistoryView | null;
  /** The callback that was asked for, or the newest delivery of the event; null where the log has none. */
  readonly callback: CallbackView | null;
}

export function showCommand(): Command {
  return adminCommand("show")
    .description("Show one callback and its event: what became of it, its timeline, its error and its payload.")
    .argument("<id>", "an event id, a request id, or the number of a callback")
    .option("--source <source>", "where the event came from (default: the one source that has it)")
    .option(...UTC_OPTION)
    .action(async (id: string, options: AdminOptions & ZoneOptions & Given<"source">) => {
      const shown = await callAdmin(options, (client) => read(client, id, options.source));
      printResult(options, shown, () => shownText(shown, options));
    });
}

async function read(client: AdminClient, id: string, source: string | undefined): Promise<Shown> {
  const numbered = /^[1-9]\d{0,15}$/.test(id) ? await unlessAbsent(client.callbacks.get(Number(id))) : undefined;
  if (numbered !== undefined) return withEvent(client, numbered);
  const known = source ?? (await soleSourceOf(client, id));
  const event = known === undefined ? undefined : await unlessAbsent(client.events.get(known, id));
  if (event !== undefined) return { event, callback: await newestCallback(client, event) };
  const found = await findCallback(client, id);
  if (found !== undefined) return withEvent(client, found);
  const where = source === undefined ? "" : ` of ${source}`;
  throw new UserError(
    `no event${where}, request or callback has the id ${id}; \`oncehook find ${id}\` looks for any value`,
  );
}

/** A request id, or the id that a refused callback claims. */
async function findCallback({ search, callbacks }: AdminClient, id: string): Promise<CallbackView | undefined> {
  const quoted = `"${id.replace(/["\\]/g, "\\$&")}"`;
  for (const q of [`request:${quoted}`, `id:${quoted}`]) {
    let cursor: string | undefined;
    do {
      const page = await search.find({ q, limit: 1, cursor });
      const [found] = page.items;
      if (found !== undefined) return callbacks.get(found.id);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }
  return undefined;
}

async function withEvent({ events }: AdminClient, callback: CallbackView): Promise<Shown> {
  const { source, event_id } = callback;
  const event = source === null || event_id === null ? undefined : await unlessAbsent(events.get(source, event_id));
  return { event: event ?? null, callback };
}

async function newestCallback(
  { callbacks }: AdminClient,
  { timeline }: EventHistoryView,
): Promise<CallbackView | null> {
  const ids = timeline.flatMap((entry) => ("callback_id" in entry ? (entry.callback_id ?? []) : []));
  const newest = ids.at(-1);
  return newest === undefined ? null : ((await unlessAbsent(callbacks.get(newest))) ?? null);
}

async function unlessAbsent<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof AdminError && error.status === 404) return undefined;
    throw error;
  }
}

function shownText({ event, callback }: Shown, zone: ZoneOptions): string {
  const parts = [resultOf({ event, callback }, zone)];
  if (event !== null) parts.push(timelineTable(event, zone));
  const error = event?.failure?.error ?? callback?.error ?? null;
  if (error !== null) parts.push(errorText(error));
  if (callback !== null) parts.push(payloadText(callback));
  return `${parts.join("\n\n")}\n`;
}

/** One sentence: what became of it. */
function resultOf({ event: history, callback }: Shown, zone: ZoneOptions): string {
  if (history === null) return callback === null ? "" : callbackResult(callback, zone);
  const { event, failure, timeline } = history;
  const runs = timeline.filter(({ kind }) => kind === "attempt").length;
  const name = `${history.event_id} of ${history.source}`;
  const after = `after ${counted(runs, "attempt")}`;
  if (event !== null && event.processed_at !== null)
    return `${name} (${event.event_type}) was handled at ${dateTimeText(event.processed_at, zone)}, ${after}.`;
  if (failure === null) return callback === null ? `${name} was not handled.` : callbackResult(callback, zone);
  const type = failure.event_type === "" ? "not read" : failure.event_type;
  if (failure.state === "rejected") return `${name} (${type}) was rejected: ${failure.code}.`;
  if (failure.next_attempt_at === null) return `${name} (${type}) failed ${after}; its retries are exhausted.`;
  const next = `the next attempt is at ${dateTimeText(failure.next_attempt_at, zone)}`;
  return failure.state === "accepted"
    ? `${name} (${type}) is accepted and not handled yet; ${next}.`
    : `${name} (${type}) failed ${after}; ${next}.`;
}

function callbackResult(callback: CallbackView, zone: ZoneOptions): string {
  const { source, outcome, response_status, diagnosis, claimed, event_id } = callback;
  const of = `Callback ${callback.id} of ${source ?? PLATFORM}`;
  const at = `at ${dateTimeText(callback.timestamp, zone)}`;
  const why = diagnosis === null ? "" : `: ${diagnosis.message} ${diagnosis.remedy}`;
  const id = claimed?.event_id;
  const claim = id == null ? "" : isVerified(outcome) ? ` It brought ${id}.` : ` It claims to be ${id}, unverified.`;
  const event = event_id === null ? "" : ` (${event_id})`;
  return `${of}${event} was answered ${response_status}, ${outcome}, ${at}${why === "" ? "." : why}${claim}`;
}

/** Only the user's frames, where there are any. */
function errorText(error: string): string {
  const { own } = splitFrames(error);
  return (hasFrames(own) ? own : error).split("\n").map(escapeLines).join("\n");
}

function payloadText({ body }: CallbackView): string {
  const parsed = parseJson(body);
  return typeof parsed === "object" && parsed !== null ? JSON.stringify(parsed, null, 2) : escapeControls(body);
}
