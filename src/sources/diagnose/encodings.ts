import type { WorkBudget } from "./work-budget.ts";

/** Other spellings of strings, or of numbers. */
export interface Encoding {
  readonly how: string;
  readonly of: (raw: string) => string;
}

interface Rule {
  readonly how: string;
  /** Of a whole string or number, which the engine does at once. */
  readonly whole: (raw: string) => string;
  /** Of any part of what comes out of that, as long as it may be. */
  readonly part: (text: string) => string;
}

const asItIs = (text: string): string => text;

export const STRINGS: readonly Rule[] = [
  { how: "with no more escapes than needed", whole: plain, part: asItIs },
  { how: "with characters beyond ASCII as \\uXXXX", whole: plain, part: ascii },
  {
    how: "with slashes and characters beyond ASCII escaped, as PHP does",
    whole: plain,
    part: (text) => slashed(ascii(text)),
  },
  { how: "with slashes escaped", whole: plain, part: slashed },
  {
    how: "with <, > and & escaped, as Go does",
    whole: plain,
    part: (text) => escaped(text, /[<>&\u2028\u2029]/g),
  },
  {
    how: "with characters beyond ASCII, quotes and <, >, & and + escaped, as .NET does",
    whole: (raw) => `"${plain(raw).slice(1, -1).replaceAll('\\"', "\\u0022")}"`,
    part: (text) => escaped(ascii(text), /[<>&+'`]/g, true),
  },
];
export const NUMBERS: readonly Rule[] = [
  { how: "with numbers as JavaScript writes them", whole: (raw) => String(Number(raw)), part: asItIs },
];

/** What a string or number costs, and what each of its characters does: an escape is slow to write. */
const EACH = 64;
const CHARACTER = 8;
const PART = 1_024;

/** The spellings that make a difference to any of these, each made when it is first asked for. */
export function encodingsBy(
  rules: readonly Rule[],
  raws: ReadonlySet<string>,
  effort: WorkBudget,
): () => Generator<Encoding | undefined> {
  const made: Encoding[] = [{ how: "", of: asItIs }];
  const seen = new Set([[...raws].join("\n")]);
  const left = [...rules];
  return function* () {
    yield* made;
    for (let rule = left.shift(); rule !== undefined; rule = left.shift()) {
      const spelled = new Map<string, string>();
      for (const raw of raws) {
        spelled.set(raw, yield* encodedBy(rule, raw, effort));
        if (effort.isSpent) return;
      }
      const all = [...spelled.values()].join("\n");
      if (seen.has(all)) continue;
      seen.add(all);
      const spelling: Encoding = { how: rule.how, of: (raw) => spelled.get(raw) ?? raw };
      made.push(spelling);
      yield spelling;
    }
  };
}

function* encodedBy({ whole, part }: Rule, raw: string, effort: WorkBudget): Generator<undefined, string> {
  effort.take(EACH);
  const text = whole(raw);
  let spelled = "";
  for (let at = 0; at < text.length; at += PART) {
    const more = part(text.slice(at, at + PART));
    spelled += more;
    effort.take(CHARACTER * more.length);
    if (effort.isDue()) yield;
  }
  return spelled;
}

/** As JavaScript and most others write it; a string that is none stays as it came. */
function plain(raw: string): string {
  try {
    return JSON.stringify(JSON.parse(raw));
  } catch {
    return raw;
  }
}

function ascii(text: string): string {
  return escaped(text, /[^\x20-\x7e]/g);
}

function slashed(text: string): string {
  return text.replaceAll("/", "\\/");
}

function escaped(text: string, characters: RegExp, isUpper = false): string {
  return text.replace(characters, (character) => {
    const digits = character.charCodeAt(0).toString(16).padStart(4, "0");
    return `\\u${isUpper ? digits.toUpperCase() : digits}`;
  });
}
