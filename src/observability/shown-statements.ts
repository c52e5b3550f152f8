import type { JsonValue } from "../domain/index.ts";
import type { Mask } from "./masking/mask.ts";
import { MASKED } from "./masking/secret-patterns.ts";

/** A statement as a handler gave it. */
interface GivenStatement {
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly valuesOmitted: number;
  readonly rows: number | null;
}

interface GivenRun {
  readonly statements: readonly GivenStatement[];
  /** Of the event; undefined where it is not known. */
  readonly payload: JsonValue | undefined;
}

/** A statement for people to read. */
export interface ShownStatement {
  readonly sql: string;
  readonly values: (string | number | boolean | null)[];
  readonly values_omitted: number;
  readonly rows: number | null;
}

const [MAX_SQL, MAX_VALUE] = [4_000, 256];
/** A shorter secret stands in other texts by chance. */
const LONG_ENOUGH = 8;
const JSON_TEXT = /^\s*[[{]/;

/**
 * Statements for people to read, secrets masked.
 * @param most characters of all, as JSON; the statements behind are left out
 */
export function shownStatements(
  { statements, payload }: GivenRun,
  mask: Pick<Mask, "text" | "json">,
  most = Number.POSITIVE_INFINITY,
): ShownStatement[] {
  const shown: ShownStatement[] = [];
  const hidden = payload === undefined ? new Set<string>() : hiddenTexts(payload, mask);
  let left = most;
  for (const { sql, values, valuesOmitted, rows } of statements) {
    const one: ShownStatement = {
      sql: cut(mask.text(sql), MAX_SQL),
      values: values.map((value) => shownValue(value, hidden, mask)),
      values_omitted: valuesOmitted,
      rows,
    };
    left -= JSON.stringify(one).length;
    if (left < 0) break;
    shown.push(one);
  }
  return shown;
}

/** Texts of the payload that the mask takes out. In a statement they have no name by which it would know them. */
function hiddenTexts(payload: JsonValue, mask: Pick<Mask, "json">): ReadonlySet<string> {
  const hidden = new Set<string>();
  // A list of its own: a payload may nest deeper than calls can.
  const left: [given: JsonValue, shown: JsonValue | undefined][] = [[payload, mask.json(payload)]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [given, shown] = next;
    if (given === null || typeof given === "boolean") continue;
    if (typeof given !== "object") {
      // One that is masked in part is masked so in a statement, too.
      if (given !== shown && (shown === MASKED || typeof shown !== "string")) hidden.add(String(given));
      continue;
    }
    const isAlike = typeof shown === "object" && shown !== null && Array.isArray(shown) === Array.isArray(given);
    const of = (isAlike ? shown : {}) as Readonly<Record<string, JsonValue>>;
    for (const [name, value] of Object.entries(given)) left.push([value as JsonValue, of[name]]);
  }
  return hidden;
}

function shownValue(
  value: unknown,
  hidden: ReadonlySet<string>,
  mask: Pick<Mask, "text" | "json">,
): string | number | boolean | null {
  if (value === null || value === undefined) return null;
  if (hidden.has(String(value))) return MASKED;
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array) return `<${value.length} bytes>`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "<invalid date>" : value.toISOString();
  // A text in JSON has names, by which its secrets are known.
  let text = typeof value === "string" ? value : asJson(value);
  for (const secret of hidden) if (secret.length >= LONG_ENOUGH) text = text.replaceAll(secret, MASKED);
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
