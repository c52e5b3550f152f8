import type { Command } from "commander";
import type { AdminClient, FoundCallbackView } from "../admin-client/index.ts";
import { isVerified } from "../domain/index.ts";
import { type AdminOptions, adminCommand, callAdmin, MAX_LIMIT, wholeNumber } from "./call-admin.ts";
import { dateTimeText, printResult, shortText, table, UTC_OPTION, type ZoneOptions } from "./output.ts";

interface FindOptions extends AdminOptions, ZoneOptions {
  readonly limit: number;
  readonly all?: true;
}

interface Found {
  readonly items: readonly FoundCallbackView[];
  /** Whether there is more: texts that were not looked for, or matches past the limit. */
  readonly isComplete: boolean;
}

export function findCommand(): Command {
  return adminCommand("find")
    .description("Find callbacks by any value and filter, and return. Exit code 1 where there is none.")
    .argument("<query...>", "such as order-123, or source:stripe outcome:failed since:3d customer:cus_1")
    .option("--limit <count>", "how many, up to 200", wholeNumber(1, MAX_LIMIT), 20)
    .option(...UTC_OPTION)
    .option("--all", "look for texts too where whole values were found: it reads the whole log")
    .action(async (words: readonly string[], options: FindOptions) => {
      const q = words.map(asToken).join(" ");
      const found = await callAdmin(options, (client) => find(client, q, options));
      printResult(options, found.items, () => foundText(found, q, options));
      if (found.items.length === 0) process.exitCode = 1;
    });
}

/** The shell has taken the quotes away. */
function asToken(word: string): string {
  if (!/\s/.test(word) || word.includes('"')) return word;
  const [, filter = "", value = ""] = /^([\w.-]+:)?(.*)$/s.exec(word) ?? [];
  return /^(?:[\w.-]+:\S+\s+)/.test(word) ? word : `${filter}"${value}"`;
}

/** Page after page. Texts are looked for where nothing else was found: they may be anywhere in the log. */
async function find({ search }: AdminClient, q: string, { limit, all }: FindOptions): Promise<Found> {
  const items: FoundCallbackView[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await search.find({ q, limit: limit - items.length, cursor });
    items.push(...page.items);
    if (page.next_cursor === null) return { items, isComplete: true };
    const isEnough = items.length > 0 && page.searching === "text" && all !== true;
    if (items.length >= limit || isEnough) return { items, isComplete: false };
    cursor = page.next_cursor;
    showProgress(page);
  }
}

function showProgress({ searching, progress }: { readonly searching: string | null; readonly progress: number }): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${searching} ${Math.round(progress * 100)} % \u001b[K\r`);
}

function foundText({ items, isComplete }: Found, q: string, zone: ZoneOptions): string {
  if (items.length === 0) return `no callback matches ${q}\n`;
  const head = ["time", "source", "type", "outcome", "event", "match"];
  const more = isComplete ? "" : "there may be more: --all looks for texts too, --limit shows more\n";
  return `${table(
    head,
    items.map((item) => cellsOf(item, zone)),
  )}\n${more}`;
}

function cellsOf(callback: FoundCallbackView, zone: ZoneOptions): string[] {
  const { timestamp, source, outcome, claimed, matched } = callback;
  const mark = isVerified(outcome) ? "" : " (unverified)";
  const event = shown(callback.event_id, claimed?.event_id, mark);
  const type = shown(callback.event_type, claimed?.event_type, mark);
  const match = matched === null ? "" : `${matched.kind}: ${matched.where} = ${matched.value}`;
  return [dateTimeText(timestamp, zone), source ?? "", type, outcome, event, shortText(match)];
}

function shown(authentic: string | null, claimed: string | null | undefined, mark: string): string {
  if (authentic !== null) return shortText(authentic);
  return claimed == null ? "" : `${shortText(claimed)}${mark}`;
}
