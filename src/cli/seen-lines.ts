import type { SeenLine } from "../retry/index.ts";
import { UserError } from "./user-error.ts";

/** The columns of a CSV file and the fields of NDJSON, by the names that such tables use. */
const FIELDS: Readonly<Record<string, "id" | "type" | "processedAt">> = {
  id: "id",
  event_id: "id",
  type: "type",
  event_type: "type",
  processed_at: "processedAt",
  received_at: "processedAt",
};
const MAX_LINE = 65_536;

type ReadLine = (text: string, line: number) => SeenLine | undefined;

/**
 * Reads ids, one a line; or CSV, whose first line has the column `id`; or a JSON object a line.
 * @throws UserError for bytes that are no UTF-8, and a CSV file with another column
 */
export async function* seenLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<SeenLine> {
  let read: ReadLine | undefined;
  let number = 0;
  for await (const text of linesOf(input)) {
    number += 1;
    if (text.trim() === "") continue;
    const header: ReadLine | undefined = read === undefined ? csvReader(text, number) : undefined;
    read ??= header ?? (text.startsWith("{") ? readJson : (id, line) => ({ line, id }));
    const event = header === undefined ? read(text, number) : undefined;
    if (event !== undefined) yield event;
  }
}

async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decode = strictDecoder();
  let rest = "";
  for await (const chunk of input) {
    const lines = (rest + decode(chunk)).split(/\r?\n/);
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE) throw new UserError("the input has a line of more than 65,536 characters");
    yield* lines;
  }
  yield rest + decode();
}

/** Without a byte order mark. */
function strictDecoder(): (chunk?: Uint8Array) => string {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  return (chunk) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (cause) {
      throw new UserError("the input is no UTF-8; export it as UTF-8", { cause });
    }
  };
}

/** Undefined where the first line is no header. */
function csvReader(header: string, line: number): ReadLine | undefined {
  const names = cellsOf(header);
  if (names === undefined || !names.some((name) => FIELDS[name] === "id")) return undefined;
  const unknown = names.find((name) => FIELDS[name] === undefined);
  if (unknown !== undefined)
    throw new UserError(`line ${line}: no such column ${JSON.stringify(unknown)}; there are id, type and processed_at`);
  return (text, number) => {
    const cells = cellsOf(text);
    if (cells?.length !== names.length) return { line: number, fault: `expected ${names.length} columns of CSV` };
    return eventOf(number, Object.fromEntries(names.map((name, index) => [name, cells[index] || undefined])));
  };
}

/** The cells of a line as RFC 4180 writes them; undefined where its quotes do not close. */
function cellsOf(line: string): string[] | undefined {
  if (!/^(?:"(?:[^"]|"")*"|[^",]*)(?:,(?:"(?:[^"]|"")*"|[^",]*))*$/.test(line)) return undefined;
  const cells = line.match(/(?<=^|,)(?:"(?:[^"]|"")*"|[^",]*)/g) ?? [];
  return cells.map((cell) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell));
}

function readJson(text: string, line: number): SeenLine {
  try {
    return eventOf(line, JSON.parse(text));
  } catch {
    return { line, fault: 'expected a JSON object, such as {"id":"evt_1"}' };
  }
}

function eventOf(line: number, object: Readonly<Record<string, unknown>>): SeenLine {
  const event: Partial<Record<"id" | "type" | "processedAt", unknown>> = {};
  for (const [name, value] of Object.entries(object)) {
    const field = FIELDS[name];
    if (field !== undefined && value !== null) event[field] ??= value;
  }
  const { processedAt, ...rest } = event;
  return { line, id: undefined, ...rest, ...(processedAt !== undefined && { processedAt: timeOf(processedAt) }) };
}

const TIME = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?(?:([+-]\d\d):?(\d\d)?|[Zz])?$/;

/** RFC 3339, or as PostgreSQL writes it; in UTC where it has no offset. An invalid date for anything else. */
function timeOf(value: unknown): Date {
  const [match, day, time, hours, minutes = "00"] = TIME.exec(String(value)) ?? [];
  if (match === undefined) return new Date(Number.NaN);
  return new Date(`${day}T${time}${hours === undefined ? "Z" : `${hours}:${minutes}`}`);
}
