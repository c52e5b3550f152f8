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
/** Of a longer value only the length is shown: to look for secrets takes time with every character. */
const MAX_READ = 16_384;
/** So many characters of a run are looked through for secrets of its payload, once for each secret. */
const MAX_WORK = 4_000_000;
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
  const hasValues = statements.some(({ values }) => values.length > 0);
  const shownValue = createValueMask(hasValues ? hiddenTexts(payload, mask) : new Set(), mask);
  let left = most;
  for (const { sql, values, valuesOmitted, rows } of statements) {
    const one: ShownStatement = {
      sql: cut(mask.text(sql), MAX_SQL),
      values: values.map(shownValue),
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
function hiddenTexts(payload: JsonValue | undefined, mask: Pick<Mask, "json">): ReadonlySet<string> {
  const hidden = new Set<string>();
  if (payload === undefined) return hidden;
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

function createValueMask(hidden: ReadonlySet<string>, mask: Pick<Mask, "text" | "json">) {
  const long = [...hidden].filter((secret) => secret.length >= LONG_ENOUGH);
  let work = 0;
  const shownText = (text: string): string => {
    if (hidden.has(text)) return MASKED;
    if (text.length > MAX_READ) return `<${text.length} characters>`;
    work += text.length * long.length;
    if (work > MAX_WORK) return MASKED;
    const known = long.reduce((left, secret) => left.replaceAll(secret, MASKED), text);
    return cut(maskedText(known, mask), MAX_VALUE);
  };
  return (value: unknown): string | number | boolean | null => {
    if (value === null || value === undefined) return null;
    if (typeof value === "boolean") return value;
    if (typeof value === "number" || typeof value === "bigint") {
      const text = String(value);
      if (hidden.has(text)) return MASKED;
      return typeof value === "number" ? value : text;
    }
    if (value instanceof Uint8Array) return `<${value.length} bytes>`;
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "<invalid date>" : value.toISOString();
    return shownText(typeof value === "string" ? value : asJson(value));
  };
}

/** A text in JSON has names, by which its secrets are known. */
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
