import type { Mask } from "./masking/mask.ts";

/** A statement as a handler gave it. */
interface GivenStatement {
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly valuesOmitted: number;
  readonly rows: number | null;
}

/** A statement for people to read. */
export interface ShownStatement {
  readonly sql: string;
  readonly values: (string | number | boolean | null)[];
  readonly values_omitted: number;
  readonly rows: number | null;
}

const [MAX_SQL, MAX_VALUE] = [4_000, 256];
const JSON_TEXT = /^\s*[[{]/;

/**
 * Statements for people to read, secrets masked.
 * @param most characters of all, as JSON; the statements behind are left out
 */
export function shownStatements(
  statements: readonly GivenStatement[],
  mask: Pick<Mask, "text" | "json">,
  most = Number.POSITIVE_INFINITY,
): ShownStatement[] {
  const shown: ShownStatement[] = [];
  let left = most;
  for (const { sql, values, valuesOmitted, rows } of statements) {
    const one: ShownStatement = {
      sql: cut(mask.text(sql), MAX_SQL),
      values: values.map((value) => shownValue(value, mask)),
      values_omitted: valuesOmitted,
      rows,
    };
    left -= JSON.stringify(one).length;
    if (left < 0) break;
    shown.push(one);
  }
  return shown;
}

function shownValue(value: unknown, mask: Pick<Mask, "text" | "json">): string | number | boolean | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array) return `<${value.length} bytes>`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "<invalid date>" : value.toISOString();
  // A text in JSON has names, by which its secrets are known.
  const text = typeof value === "string" ? value : asJson(value);
  return cut(maskedText(text, mask), MAX_VALUE);
}

function maskedText(text: string, mask: Pick<Mask, "text" | "json">): string {
  if (!JSON_TEXT.test(text)) return mask.text(text);
  try {
    return JSON.stringify(mask.json(JSON.parse(text)));
  } catch {
    return mask.text(text);
  }
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return "<a value that JSON cannot carry>";
  }
}

/** Cut after it is masked: half a secret could not be told from other text. */
const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);
