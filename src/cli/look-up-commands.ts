import { type Command, Option } from "commander";
import type {
  EventFilter,
  EventHistoryView,
  FailureFilter,
  PageOf,
  PageParams,
} from "../admin-client/index.ts";
import { FAILURE_STATES, type FailureState } from "../domain/index.ts";
import {
  adminCommand,
  callAdmin,
  type ListOptions,
  listCommand,
  MAX_LIMIT,
  parseCursor,
  printAnswer,
  printList,
  wholeNumber,
} from "./call-admin.ts";
import { escapeControls, table } from "./output.ts";

interface EventListOptions extends ListOptions, FailureFilterOptions {
  readonly id?: string;
}

/** Looks on where a page is empty and has a cursor: that search has found nothing yet. */
async function firstFound<Item, Query extends PageParams>(
  query: Query,
  list: (query: Query) => Promise<PageOf<Item>>,
): Promise<PageOf<Item>> {
  let page = await list(query);
  while (page.items.length === 0 && page.next_cursor !== null)
    page = await list({ ...query, cursor: page.next_cursor });
  return page;
}

export function eventCommand(): Command {
  return adminCommand("event")
    .description("Show one event and everything that happened to it, oldest first.")
    .argument("<event_id>", "the event")
    .option("--source <source>", "where it came from", "platform")
    .option("--limit <count>", "how many callbacks and attempts, up to 200", wholeNumber(1, MAX_LIMIT), 100)
    .option("--cursor <cursor>", "the later part of a time line, whose last line says this", parseCursor)
    .action(async (eventId: string, options: ListOptions & { readonly source: string }) => {
      const { source, limit, cursor } = options;
      await printAnswer(options, ({ events }) => events.get(source, eventId, { limit, cursor }), historyText);
    });
}

export function eventsCommand(): Command {
  return listCommand("events")
    .description("List the events that the running receiver has handled, newest first.")
    .option("--source <source>", "events that came from it")
    .option("--id <event_id>", "this event alone")
    .action(async (options: EventListOptions) => {
      const { id, source, limit, cursor } = options;
      const filter = { source, event_id: id };
      const list = await callAdmin(options, ({ events }) =>
        firstFound({ limit, cursor, ...filter }, events.list),
      );
      const rows = list.items.map(({ event_id, source, event_type, processed_at, result }) => [
        event_id,
        source,
        event_type,
        processed_at ?? "",
        JSON.stringify(result),
      ]);
      const none = `no ${isEmpty(filter) ? "" : "such "}event was handled yet; \`oncehook failures\` lists those that failed`;
      printList(list, options, ["event_id", "source", "type", "processed at", "result"], rows, none);
    });
}

export function failuresCommand(): Command {
  return withFailureFilter(listCommand("failures"))
    .description(
      "List failed events, newest first: waiting for a retry, with retries exhausted, or rejected.",
    )
    .option("--source <source>", "failures of events that came from it")
    .option("--id <event_id>", "the failure of this event alone")
    .action(async (options: EventListOptions) => {
      const { id, limit, cursor } = options;
      const filter = { ...failureFilter(options), event_id: id };
      const query = { limit, cursor, ...filter };
      const list = await callAdmin(options, ({ failures }) => firstFound(query, failures.list));
      const rows = list.items.map((failure) => [
        failure.event_id,
        failure.source,
        failure.event_type || UNREAD,
        failure.state,
        String(failure.attempts),
        failure.next_attempt_at ?? "never",
        failure.code,
        firstLine(failure.error),
      ]);
      const head = ["event_id", "source", "type", "state", "attempts", "next retry", "code", "error"];
      const none = isEmpty(filter) ? "no event has failed" : "no such failure";
      printList(list, options, head, rows, none);
    });
}

/** In the place of the type of a callback that its contract could not read. */
const UNREAD = "(not read)";

function historyText(history: EventHistoryView): string {
  const { source, event_id, timeline, timeline_cursor } = history;
  const head = ["time", "what", "outcome", "status", "ms", "error"];
  const more = timeline_cursor === null ? "" : `later: --cursor ${timeline_cursor}\n`;
  const lines = table(head, timeline.map(timelineCells));
  return `${escapeControls(event_id)} of ${source}: ${eventStatus(history)}\n\n${lines}\n${more}`;
}

function eventStatus({ failure, event }: EventHistoryView): string {
  if (event !== null) return `${event.event_type}, handled at ${event.processed_at}`;
  if (failure === null) return "no handler has handled it, and no retry waits";
  const { event_type, state, next_attempt_at } = failure;
  const ended = state === "rejected" ? state : "retries exhausted";
  return `${event_type || UNREAD}, ${next_attempt_at === null ? ended : `next retry at ${next_attempt_at}`}`;
}

const ATTEMPTS = {
  callback: "attempt in a callback",
  accepted: "attempt after the response",
  retry: "retry",
  replay: "replay",
  bulk: "bulk replay",
} as const;

function timelineCells(entry: EventHistoryView["timeline"][number]): string[] {
  switch (entry.kind) {
    case "delivery":
    case "attempt": {
      const what = entry.kind === "delivery" ? "callback" : ATTEMPTS[entry.by];
      const { response_status, duration_ms, error } = entry;
      const details = [String(response_status ?? ""), duration_ms.toFixed(1), firstLine(error ?? "")];
      return [entry.at, what, entry.outcome, ...details];
    }
    case "failure":
      return [entry.at, `failure, ${entry.state}`, entry.code, "", "", ""];
    case "record":
      return [entry.at, "record", entry.status, "", "", ""];
    case "notification": {
      const { at, notification_id, topic, state, channel } = entry;
      const over = channel === null ? "" : ` over ${escapeControls(channel)}`;
      return [at, `notification ${notification_id} ${escapeControls(topic)}`, `${state}${over}`, "", "", ""];
    }
  }
}

/** An error's text may hold anything; a terminal is shown one line of plain characters. */
export function firstLine(text: string): string {
  const [line = ""] = text.split("\n", 1);
  return escapeControls(line);
}

export interface FailureFilterOptions {
  readonly state?: FailureState;
  readonly source?: string;
  readonly type?: string;
  readonly code?: string;
}

export function withFailureFilter(command: Command): Command {
  return command
    .addOption(new Option("--state <state>", "failures in this state").choices(FAILURE_STATES))
    .option("--type <event_type>", "failures of events of this type")
    .option("--code <code>", "failures with this code");
}

export function failureFilter({ state, source, type, code }: FailureFilterOptions): FailureFilter {
  return { state, source, event_type: type, code };
}

export function isEmpty(filter: FailureFilter | EventFilter): boolean {
  return Object.values(filter).every((value) => value === undefined);
}
