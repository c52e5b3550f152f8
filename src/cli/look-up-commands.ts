import { type Command, Option } from "commander";
import {
  type AdminClient,
  AdminError,
  type CallbackPage,
  type EventFilter,
  type EventHistoryView,
  type EventKey,
  type FailureFilter,
  type PageOf,
  type PageParams,
} from "../admin-client/index.ts";
import { FAILURE_STATES, type FailureState, withoutHandler } from "../domain/index.ts";
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
import { assertProblem, assertSource, firstFound } from "./known-names.ts";
import { escapeControls, type Given, table, timeText, UTC_OPTION, type ZoneOptions } from "./output.ts";
import { UsageError, UserError } from "./user-error.ts";

type EventListOptions = ListOptions & FailureFilterOptions & Given<"id">;

/**
 * The sources that have an event with this id, those of named handlers (`stripe#audit`) after their own source. An event that
 * was ignored, or is not handled yet, is only in the log.
 */
async function sourcesOf({ callbacks, events, failures }: AdminClient, eventId: string, failed: boolean) {
  const query = { event_id: eventId, limit: MAX_LIMIT };
  const names = (await firstFound(query, failures.list)).items.map(({ source }) => source);
  if (!failed) names.push(...(await firstFound(query, events.list)).items.map(({ source }) => source));
  if (!failed && names.length === 0)
    names.push(...(await firstFound(query, callbacks.list)).items.flatMap(({ source }) => source ?? []));
  return [...new Set(names)].toSorted();
}

/** The source that has an event with this id; undefined where none has. @throws UsageError where several have it */
export async function soleSourceOf(client: AdminClient, eventId: string): Promise<string | undefined> {
  const [first, ...others] = await sourcesOf(client, eventId, false);
  if (first !== undefined) assertSole(eventId, first, others);
  return first;
}

/** Handlers with names have the event of their source. */
function assertSole(id: string, first: string, others: readonly string[], isFailure = false): void {
  const rivals = isFailure ? others : others.filter((other) => withoutHandler(other) !== first);
  if (rivals.length > 0)
    throw new UsageError(`--source: missing; ${[first, ...rivals].join(" and ")} have an event ${id}: name one`);
}

/** No source has an event with this id. */
export class UnknownEventError extends UserError {
  constructor(id: string, isFailure: boolean) {
    const what = isFailure ? "failure" : "event";
    super(`no ${what} has the id ${escapeControls(id)}; \`oncehook find ${escapeControls(id)}\` looks for any value`);
  }
}

interface WantedEvent {
  readonly id: string;
  /** Found where only one source has the event. */
  readonly source: string | undefined;
  /** Whether a failure of it is wanted. */
  readonly isFailure: boolean;
}

/** Asks about one event. @throws UsageError where several sources have it, UserError where another one does */
export async function askAboutEvent<Answer>(
  client: AdminClient,
  { id, source, isFailure }: WantedEvent,
  ask: (key: EventKey) => Promise<Answer>,
): Promise<Answer> {
  if (source === undefined) {
    const [first, ...others] = await sourcesOf(client, id, isFailure);
    if (first === undefined) throw new UnknownEventError(id, isFailure);
    assertSole(id, first, others, isFailure);
    return ask({ source: first, event_id: id });
  }
  try {
    return await ask({ source, event_id: id });
  } catch (cause) {
    if (!(cause instanceof AdminError) || cause.status !== 404) throw cause;
    const found = await sourcesOf(client, id, isFailure);
    if (found.length === 0) throw cause;
    const what = isFailure ? "failure" : "event";
    throw new UserError(`${source} has no ${what} ${id}, but ${found.join(" and ")}: --source ${found[0]}`, { cause });
  }
}

/** The first page with items. For an empty list, `others` names the sources that have the event. */
async function findEvents<Item, Filter extends EventFilter & Pick<FailureFilter, "problem">>(
  { id, limit, cursor, ...options }: EventListOptions,
  filter: Filter,
  listOf: (client: AdminClient) => (query: Filter & PageParams) => Promise<PageOf<Item>>,
) {
  return callAdmin(options, async (client) => {
    const list = await firstFound({ limit, cursor, ...filter }, listOf(client));
    if (list.items.length > 0) return { list, others: "" };
    await assertSource(client, filter.source);
    await assertProblem(client, filter.problem);
    if (id === undefined || filter.source === undefined) return { list, others: "" };
    const found = await sourcesOf(client, id, false);
    return { list, others: found.length === 0 ? "" : `; ${found.join(" and ")} have ${id}` };
  });
}

export function eventCommand(): Command {
  return adminCommand("event")
    .description("Show one event and everything that happened to it, oldest first.")
    .argument("<event_id>", "the event")
    .option("--source <source>", "where it came from (default: the one source that has it)")
    .option("--limit <count>", "how many callbacks and attempts, up to 200", wholeNumber(1, MAX_LIMIT), 100)
    .option("--cursor <cursor>", "the later part of a time line, whose last line says this", parseCursor)
    .option(...UTC_OPTION)
    .action(async (id: string, options: ListOptions & Given<"source">) => {
      const { source, limit, cursor } = options;
      const ask = (client: AdminClient) =>
        askAboutEvent(client, { id, source, isFailure: false }, ({ source: found }) =>
          client.events.get(found, id, { limit, cursor }),
        );
      await printAnswer(options, ask, (history) => historyText(history, options));
    });
}

export function eventsCommand(): Command {
  return listCommand("events")
    .description("List handled events, newest first. Others: oncehook failures, and oncehook tail for all callbacks.")
    .option("--source <source>", "events that came from it")
    .option("--id <event_id>", "this event alone")
    .option("--ignored", "instead, the types of the newest 1,000 ignored callbacks")
    .action(async (options: EventListOptions & { readonly ignored?: true }) => {
      if (options.ignored === true) return listIgnored(options);
      const filter = { source: options.source, event_id: options.id };
      const { list, others } = await findEvents(options, filter, ({ events }) => events.list);
      const rows = list.items.map(({ event_id, source, event_type, processed_at, result }) => {
        return [event_id, source, event_type, timeText(processed_at, options), JSON.stringify(result)];
      });
      const none = `no ${isEmpty(filter) ? "" : "such "}event was handled yet; \`oncehook failures\` lists those that failed${others}`;
      printList(list, options, ["event_id", "source", "type", "processed at", "result"], rows, none);
    });
}

export function failuresCommand(): Command {
  return withFailureFilter(listCommand("failures"))
    .description("List failed events, newest first: waiting for a retry, exhausted, or rejected.")
    .option("--source <source>", "failures of events that came from it")
    .option("--id <event_id>", "the failure of this event alone")
    .action(async (options: EventListOptions) => {
      const filter = { ...failureFilter(options), event_id: options.id };
      const { list, others } = await findEvents(options, filter, ({ failures }) => failures.list);
      const rows = list.items.map(({ attempts, next_attempt_at, gives_up_at, ...failure }) => {
        const { event_id, source, event_type, state, code, error } = failure;
        const times = [String(attempts), timeText(next_attempt_at, options) || "never", timeText(gives_up_at, options)];
        return [event_id, source, event_type || UNREAD, state, ...times, code, firstLine(error)];
      });
      const head = ["event_id", "source", "type", "state", "attempts", "next retry", "gives up", "code", "error"];
      const none = isEmpty(filter) ? "no event has failed" : `no such failure${others}`;
      printList(list, options, head, rows, none);
    });
}

/** In the place of the type of a callback that its contract could not read. */
const UNREAD = "(not read)";

const MAX_IGNORED = 1_000;

/** Counts what the callback log has; a receiver keeps no other count by type of what it did not handle. */
async function listIgnored(options: EventListOptions): Promise<void> {
  const { source, id: event_id } = options;
  const found = await callAdmin(options, async ({ callbacks }) => {
    const items: CallbackPage["items"][number][] = [];
    let cursor: string | undefined;
    do {
      const page = await callbacks.list({ source, event_id, outcome: "ignored", limit: MAX_LIMIT, cursor });
      items.push(...page.items);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && items.length < MAX_IGNORED);
    return items;
  });
  const types = [...Map.groupBy(found, ({ source: of, event_type }) => JSON.stringify([of, event_type]))];
  const counts = types.map(([, [newest, ...others]]) => ({
    source: newest?.source ?? null,
    event_type: newest?.event_type ?? null,
    count: 1 + others.length,
    newest_at: newest?.timestamp ?? null,
  }));
  const rows = counts.map(({ source: of, event_type, count, newest_at }) => {
    return [of ?? "", event_type ?? "", String(count), timeText(newest_at, options)];
  });
  const head = ["source", "type", "ignored", "newest at"];
  printList({ items: counts, next_cursor: null }, options, head, rows, "no callback in the log was ignored");
}

function historyText(history: EventHistoryView, zone: ZoneOptions): string {
  const { source, event_id, timeline_cursor } = history;
  const more = timeline_cursor === null ? "" : `later: --cursor ${timeline_cursor}\n`;
  const status = eventStatus(history, zone);
  const head = `${escapeControls(event_id)} of ${source}: ${status}\n`;
  return `${head}${earlierResults(history, zone)}\n${timelineTable(history, zone)}\n${more}`;
}

/** The results that replays replaced, a line each. */
function earlierResults({ replays }: EventHistoryView, zone: ZoneOptions): string {
  const lines = replays.map(({ replayed_at, actor, reason, earlier_result }) => {
    const who = `run again at ${timeText(replayed_at, zone)} by ${actor}: ${reason}`;
    return `${escapeControls(`${who}; before that ${JSON.stringify(earlier_result)}`)}\n`;
  });
  return lines.join("");
}

export function timelineTable({ timeline }: EventHistoryView, zone: ZoneOptions): string {
  const cells = timeline.map((entry) => timelineCells(entry, zone));
  return table(["time", "what", "outcome", "status", "ms", "error"], cells);
}

function eventStatus({ failure, event }: EventHistoryView, zone: ZoneOptions): string {
  if (event !== null) return `${event.event_type}, handled at ${timeText(event.processed_at, zone)}`;
  if (failure === null) return "no handler has handled it, and no retry waits";
  const { event_type, state, next_attempt_at, gives_up_at } = failure;
  const type = event_type || UNREAD;
  if (next_attempt_at === null) return `${type}, ${state === "rejected" ? state : "retries exhausted"}`;
  return `${type}, next retry at ${timeText(next_attempt_at, zone)}, the last one at ${timeText(gives_up_at, zone)}`;
}

const ATTEMPTS = {
  callback: "attempt in a callback",
  accepted: "attempt after the response",
  retry: "retry",
  replay: "replay",
  bulk: "bulk replay",
} as const;

function timelineCells(entry: EventHistoryView["timeline"][number], zone: ZoneOptions): string[] {
  const at = timeText(entry.at, zone);
  switch (entry.kind) {
    case "delivery":
    case "attempt": {
      const what = entry.kind === "delivery" ? "callback" : ATTEMPTS[entry.by];
      const { outcome, response_status, duration_ms, error } = entry;
      return [at, what, outcome, String(response_status ?? ""), duration_ms.toFixed(1), firstLine(error ?? "")];
    }
    case "failure":
      return [at, `failure, ${entry.state}`, entry.code];
    case "record":
      return [at, "record", entry.status];
    case "notification": {
      const { notification_id, topic, state, channel } = entry;
      return [at, `notification ${notification_id} ${topic}`, channel === null ? state : `${state} over ${channel}`];
    }
  }
}

/** An error's text may hold anything; a terminal is shown one line of plain characters. */
export function firstLine(text: string): string {
  const [line = ""] = text.split("\n", 1);
  return escapeControls(line);
}

export interface FailureFilterOptions extends Given<"source" | "type" | "code" | "problem"> {
  readonly state?: FailureState;
  readonly bulkReplay?: number;
}

export function withFailureFilter(command: Command): Command {
  return command
    .addOption(new Option("--state <state>", "failures in this state").choices(FAILURE_STATES))
    .option("--type <event_type>", "failures of events of this type")
    .option("--code <code>", "failures with this code")
    .option("--problem <id>", "failures of this problem, as `oncehook problems` lists it")
    .option("--bulk-replay <id>", "failures that failed in this bulk replay", wholeNumber(1, Number.MAX_SAFE_INTEGER));
}

export function failureFilter(options: FailureFilterOptions): FailureFilter {
  const { state, source, type, code, problem, bulkReplay } = options;
  return { state, source, event_type: type, code, problem, bulk_replay: bulkReplay?.toString() };
}

export function isEmpty(filter: FailureFilter | EventFilter): boolean {
  return Object.values(filter).every((value) => value === undefined);
}
