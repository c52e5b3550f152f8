import { type Command, Option } from "commander";
import type { AdminClient, ProblemDetailView, ProblemView } from "../admin-client/index.ts";
import { PROBLEM_KINDS, PROBLEM_STATES } from "../domain/index.ts";
import { type AdminOptions, adminCommand, type ListOptions, listCommand, printAnswer } from "./call-admin.ts";
import { counted, type Given, table } from "./output.ts";

interface ProblemOptions extends AdminOptions, Given<"source"> {
  readonly state?: ProblemView["state"];
  readonly kind?: ProblemView["kind"];
}

export function problemsCommand(): Command {
  return adminCommand("problems")
    .description(
      "List what is wrong by its cause: failures, refused callbacks, failed deliveries. Exit code 1 if one is open.",
    )
    .addOption(
      new Option("--state <state>", "problems in this state (default: open and muted)").choices(PROBLEM_STATES),
    )
    .option("--source <source>", "problems of this source, or channel")
    .addOption(new Option("--kind <kind>", "problems of this kind").choices(PROBLEM_KINDS))
    .action(list)
    .addCommand(showCommand());
}

async function list({ state, source, kind, ...options }: ProblemOptions): Promise<void> {
  const ask = async ({ problems }: AdminClient) => {
    const { items, is_complete } = await problems.list({ state, source, kind });
    const shown = state === undefined ? items.filter((one) => one.state !== "resolved") : items;
    return { items: shown, is_complete };
  };
  const { items } = await printAnswer(options, ask, listText);
  if (items.some((one) => one.state === "open")) process.exitCode = 1;
}

function listText({ items, is_complete }: { readonly items: readonly ProblemView[]; readonly is_complete: boolean }) {
  if (items.length === 0) return "no such problem\n";
  const rows = items.map(({ id, state, count, at_least, since, last_seen, title }) => {
    return [id, state, `${count}${at_least ? "+" : ""}`, minute(since), minute(last_seen), title];
  });
  const more = is_complete ? "" : "not all were counted: ask again\n";
  return `${table(["problem", "state", "count", "since (UTC)", "last (UTC)", "what"], rows)}\n${more}`;
}

function showCommand(): Command {
  return listCommand("show")
    .description("Show one problem, its remedy and its events, newest first.")
    .argument("<problem>", "the id that the list shows")
    .action(async (id: string, { limit, cursor, ...options }: ListOptions) => {
      await printAnswer(options, ({ problems }) => problems.get(id, { limit, cursor }), detailText);
    });
}

function detailText({ problem, events, next_cursor }: ProblemDetailView): string {
  const { id, kind, state, count, at_least, title, remedy, since, last_seen, muted_until, muted_by, mute_reason } =
    problem;
  const muted = state === "muted" ? `muted until ${muted_until} by ${muted_by}: ${mute_reason}\n` : "";
  const next = count > 0 && kind === "failure" ? `next: oncehook replay --problem ${id} --wait\n` : "";
  const head = `${title}\n${at_least ? "more than " : ""}${counted(count, NOUNS[kind])}, ${state}, since ${since}, the last one at ${last_seen}\n`;
  const rows = events.map(({ at, source, event_id, event_type, state: of, error }) => {
    return [at, source ?? "", event_type ?? "", event_id ?? "", of, error ?? ""];
  });
  const list = rows.length === 0 ? "" : `${table(["time", "source", "type", "event_id", "state", "error"], rows)}\n`;
  const more = next_cursor === null ? "" : `older ones: --cursor ${next_cursor}\n`;
  return `${head}${muted}${remedy === null ? "" : `${remedy}\n`}${list}${more}${next}`;
}

const NOUNS = { failure: "failure", refusal: "refused callback", delivery: "failed delivery" } as const;

function minute(time: string): string {
  return time.slice(0, 16).replace("T", " ");
}
