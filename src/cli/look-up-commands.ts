import { Command, Option } from "commander";
import { type AdminOptions, askAdmin } from "./ask-admin.ts";
import { JSON_OPTION, type JsonOptions, printResult } from "./json-output.ts";
import { table } from "./table.ts";

interface ListOptions extends AdminOptions, JsonOptions {
  readonly id?: string;
  readonly state?: string;
  readonly limit: string;
  readonly cursor?: string;
}

interface Listed<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

interface ListedEvent {
  readonly event_id: string;
  readonly source: string;
  readonly event_type: string;
  readonly processed_at: string | null;
  readonly result: unknown;
}

interface ListedFailure {
  readonly event_id: string;
  readonly source: string;
  readonly event_type: string;
  readonly state: string;
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly code: string;
  readonly error: string;
}

/** Options of every command that asks the running receiver. */
export function askingCommand(name: string): Command {
  return new Command(name)
    .option("--admin-port <port>", "where the receiver's admin listener is (default: ADMIN_PORT)")
    .option("--env <file>", "read variables from a file as well; the environment wins")
    .option(...JSON_OPTION);
}

function listCommand(name: string): Command {
  return askingCommand(name)
    .option("--limit <count>", "how many, up to 200", "20")
    .option("--cursor <cursor>", "the page after another, whose last line says this");
}

export function eventsCommand(): Command {
  return listCommand("events")
    .description("List the events that the running receiver has handled, newest first.")
    .option("--id <event_id>", "this event alone")
    .action(async (options: ListOptions) => {
      const query = queryOf({ event_id: options.id, limit: options.limit, cursor: options.cursor });
      const list = await askAdmin<Listed<ListedEvent>>(options, {
        method: "GET",
        path: `/api/events?${query}`,
      });
      const rows = list.items.map(({ event_id, source, event_type, processed_at, result }) => [
        event_id,
        source,
        event_type,
        processed_at ?? "",
        JSON.stringify(result),
      ]);
      const none = "no such event was handled; `oncehook failures` lists those that failed";
      print(list, options, ["event_id", "source", "type", "processed at", "result"], rows, none);
    });
}

export function failuresCommand(): Command {
  return listCommand("failures")
    .description("List the events that failed and wait for a retry, or for a person, newest first.")
    .addOption(new Option("--state <state>", "these alone").choices(["waiting", "exhausted"]))
    .action(async (options: ListOptions) => {
      const query = queryOf({ state: options.state, limit: options.limit, cursor: options.cursor });
      const path = `/api/failures?${query}`;
      const list = await askAdmin<Listed<ListedFailure>>(options, { method: "GET", path });
      const rows = list.items.map((failure) => [
        failure.event_id,
        failure.source,
        failure.event_type,
        failure.state,
        String(failure.attempts),
        failure.next_attempt_at ?? "never",
        failure.code,
        firstLine(failure.error),
      ]);
      const head = ["event_id", "source", "type", "state", "attempts", "next retry", "code", "error"];
      print(list, options, head, rows, "no event has failed");
    });
}

/** Parameters that were given; the receiver judges their values. */
function queryOf(parameters: Readonly<Record<string, string | undefined>>): URLSearchParams {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return new URLSearchParams(given);
}

function print(
  list: Listed<unknown>,
  options: ListOptions,
  head: readonly string[],
  rows: readonly string[][],
  none: string,
): void {
  printResult(options, list, () => {
    const more = list.next_cursor === null ? "" : `older ones: --cursor ${list.next_cursor}\n`;
    return rows.length === 0 ? `${none}\n` : `${table(head, rows)}\n${more}`;
  });
}

/** An error's text may hold anything; a terminal is shown one line of plain characters. */
function firstLine(text: string): string {
  const [line = ""] = text.split("\n", 1);
  return line.replace(/\p{Cc}/gu, "\u{FFFD}");
}
