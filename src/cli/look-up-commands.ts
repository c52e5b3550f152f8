import { Command } from "commander";
import type { PageOf, Paging } from "../admin-client/index.ts";
import { type AdminOptions, askAdmin } from "./ask-admin.ts";
import { type FilterOptions, filterOf, withFilter } from "./failure-filter.ts";
import { JSON_OPTION, type JsonOptions, printResult } from "./json-output.ts";
import { withoutControls } from "./plain.ts";
import { table } from "./table.ts";

interface ListOptions extends AdminOptions, JsonOptions, FilterOptions {
  readonly id?: string;
  readonly limit: string;
  readonly cursor?: string;
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
      const { id } = options;
      const query = { ...pagingOf(options), ...(id === undefined ? {} : { event_id: id }) };
      const list = await askAdmin(options, ({ events }) => events.list(query));
      const rows = list.items.map(({ event_id, source, event_type, processed_at, result }) => [
        event_id,
        source,
        event_type,
        processed_at ?? "",
        JSON.stringify(result),
      ]);
      const none = `no ${id === undefined ? "" : "such "}event was handled yet; \`oncehook failures\` lists those that failed`;
      print(list, options, ["event_id", "source", "type", "processed at", "result"], rows, none);
    });
}

export function failuresCommand(): Command {
  return withFilter(listCommand("failures"))
    .description("List the events that failed and wait for a retry, or for a person, newest first.")
    .option("--source <source>", "failures of events that came from it")
    .action(async (options: ListOptions) => {
      const filter = filterOf(options);
      const query = { ...pagingOf(options), ...filter };
      const list = await askAdmin(options, async ({ failures }) => {
        // A page without items that has a cursor is a look that has come to nothing yet.
        let page = await failures.list(query);
        while (page.items.length === 0 && page.next_cursor !== null)
          page = await failures.list({ ...query, cursor: page.next_cursor });
        return page;
      });
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
      const none = Object.keys(filter).length === 0 ? "no event has failed" : "no such failure";
      print(list, options, head, rows, none);
    });
}

/** The receiver judges their values. */
function pagingOf({ limit, cursor }: ListOptions): Paging {
  return { limit: Number(limit), ...(cursor === undefined ? {} : { cursor }) };
}

function print(
  list: PageOf<unknown>,
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
  return withoutControls(line);
}
