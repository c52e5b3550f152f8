import { styleText } from "node:util";

const MAX_LENGTH = 60;
/**
 * Characters that move the cursor, reorder the letters (U+202A–202E, U+2066–2069, U+200E/F, U+061C), break the line or
 * are invisible. Ids that differ would look the same.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{115F}\u{1160}\u{2800}]/gu;

/** Any client sends what it likes; a terminal is shown visible characters, and not too many. */
export function shortText(text: string): string {
  const shown = escapeControls(text);
  return shown.length > MAX_LENGTH ? `${shown.slice(0, MAX_LENGTH - 1)}…` : shown;
}

/** The same of a text that is shown whole: what would not be seen stands there as `\u202e`. */
export function escapeControls(text: string): string {
  return text.replace(INVISIBLE, escaped);
}

export function escapeLines(text: string): string {
  return text.replace(INVISIBLE, (character) => (/[\n\t]/.test(character) ? character : escaped(character)));
}

/** The same as JSON, which says the same to a script. */
export function escapedJson(value: unknown, indent?: number): string {
  return escapeLines(JSON.stringify(value, null, indent));
}

/** In the spelling of JSON: a character beyond U+FFFF is two escapes. */
function escaped(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

export function table(head: readonly string[], given: readonly (readonly string[])[]): string {
  const rows = given.map((cells) => cells.map(escapeControls));
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [line(head), widths.map((width) => "-".repeat(width)).join("  "), ...rows.map(line)].join("\n");
}

export const JSON_OPTION = ["--json", "print the result as JSON, for scripts"] as const;

export interface JsonOptions {
  readonly json?: true;
}

/** Options with a text, as far as they were given. */
export type Given<Name extends string> = Readonly<Partial<Record<Name, string>>>;

export function printResult(options: JsonOptions, result: unknown, words: () => string): void {
  printStyled(options, result, () => escapeLines(words()));
}

/** The words may have colors, and so escape what clients sent themselves. */
export function printStyled({ json }: JsonOptions, result: unknown, words: () => string): void {
  process.stdout.write(json === true ? `${escapedJson(result, 2)}\n` : words());
}

export function eventColumns(eventType: string | null, eventId: string | null): readonly [string, string] {
  return [shortText(eventType ?? "?").padEnd(18), shortText(eventId ?? "?").padEnd(40)];
}

/** The time of day at this machine. @param at in ISO 8601 */
export function timeOfDay(at: string): string {
  return new Date(at).toTimeString().slice(0, 8);
}

export const UTC_OPTION = ["--utc", "times in UTC, in place of this machine's zone"] as const;

export interface ZoneOptions {
  readonly utc?: true;
}

/**
 * A narrow time: of day for today, with the date for another day, with the year for another year.
 * @param at in ISO 8601; null is an empty text
 */
export function timeText(at: string | null, { utc }: ZoneOptions = {}, now = new Date()): string {
  if (at === null) return "";
  const [year, day, time] = partsOf(new Date(at), utc);
  const [thisYear, today] = partsOf(now, utc);
  const date = year !== thisYear ? `${year}-${day} ` : day !== today ? `${day} ` : "";
  return `${date}${time}${utc === true ? "Z" : ""}`;
}

/** A time with its whole date. @param at in ISO 8601 */
export function dateTimeText(at: string, { utc }: ZoneOptions = {}): string {
  const [year, day, time] = partsOf(new Date(at), utc);
  return `${year}-${day} ${time}${utc === true ? "Z" : ""}`;
}

function partsOf(date: Date, utc: true | undefined) {
  // Shifted by its offset, the time in UTC is the local one.
  const shown = utc === true ? date : new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  const text = shown.toISOString();
  return [text.slice(0, 4), text.slice(5, 10), text.slice(11, 19)] as const;
}

/** Green for a success, yellow for a rejection, red for a failure that the sender retries. */
export function coloredStatus(status: number, text = String(status)): string {
  return styleText(status < 300 ? "green" : status < 500 ? "yellow" : "red", text);
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? `1 ${one}` : `${count} ${many}`;
}

export const MARKS = {
  ok: () => styleText("green", "ok     "),
  warning: () => styleText("yellow", "warning"),
  failure: () => styleText("red", "FAILURE"),
};
