import { decryptOriginals } from "../../../src/store/index.ts";
import { createEncryptor } from "../../../src/system/index.ts";
import { checkTarget } from "../../support/check-target.ts";
import { eachRow } from "../../support/each-row.ts";
import type { Target } from "../../support/open-target.ts";
import { CHILD_ENVIRONMENT } from "../../support/secrets.ts";
import type { Book } from "./book.ts";

/** What the database says of the events of one book, held against what the platform was told. */
export interface Audit {
  readonly events: number;
  readonly deliveries: number;
  readonly acknowledged: number;
  /** Acknowledged, and without an effect. */
  readonly lost: number;
  /** With more than one effect, or more than one answer of `success`. */
  readonly doubled: number;
  /** Everything that does not add up, in words; empty where all is well. */
  readonly faults: readonly string[];
}

const EXAMPLES = 3;

/**
 * Reads the whole database, of which only what is wrong is kept: a full run's millions of events would not fit into the memory.
 * The receivers must have come to rest: what is at work is not yet anybody's effect.
 */
export async function audit(target: Target, book: Book): Promise<Audit> {
  const faults = new Faults();
  const { lost, doubled } = await compareEffects(target, book, faults);
  for (const wrong of book.wrong) faults.add("answered as no platform deserves", wrong);
  await compareEntries(target, book, faults);
  const checks = [...CHECKS, MOVING.has(book.type) ? BALANCES_ARE_POSTED : BALANCES_ARE_NOTHING];
  for (const { what, statement } of checks) {
    for await (const row of eachRow(target, statement)) faults.add(what, Object.values(row).join(" "));
  }
  for (const { name, violations, examples } of (await checkTarget(target)).invariants) {
    if (violations > 0) faults.add(`against what \`oncehook verify\` holds (${name})`, examples.join(" "));
  }
  return {
    events: book.pages.length,
    deliveries: book.sent,
    acknowledged: book.acknowledged,
    lost,
    doubled,
    faults: faults.lines,
  };
}

/** Each event has its effect and its record once, as the platform was told. */
async function compareEffects(target: Target, book: Book, faults: Faults): Promise<{ lost: number; doubled: number }> {
  const [effects, records] = [new Uint8Array(book.pages.length), new Uint8Array(book.pages.length)];
  const originals = await originalsOf(target, book);
  for await (const { event_id, times } of eachRow(target, EFFECTS)) {
    const number = book.numberOf(String(event_id));
    if (number === undefined) continue;
    if (number < effects.length) effects[number] = Math.min(255, Number(times));
    else faults.add("an effect of an event that was never sent", String(event_id));
  }
  for await (const { event_id, result } of eachRow(target, RECORDS)) {
    const number = book.numberOf(String(event_id));
    if (number === undefined) continue;
    records[number] = 1;
    const answered = book.pages[number]?.result;
    if (answered !== undefined && answered !== asJson(result))
      faults.add("stored with another result than was answered", String(event_id));
  }
  let lost = 0;
  let doubled = 0;
  for (const [number, page] of book.pages.entries()) {
    const times = effects[number] ?? 0;
    if (page.isAcknowledged && times === 0) {
      lost += 1;
      faults.add("acknowledged, and without an effect", book.idOf(number));
    }
    if (times > 1 || page.successes > 1) {
      doubled += 1;
      faults.add("with two effects, or answered success twice", book.idOf(number));
    }
    if (records[number] === 1 && originals[number] === 0)
      faults.add("handled, and without its original", book.idOf(number));
    if (times > 0 !== (records[number] === 1))
      faults.add("an effect without its record, or a record without its effect", book.idOf(number));
  }
  return { lost, doubled };
}

/** Whether the original of each event is kept. */
async function originalsOf(target: Target, book: Book): Promise<Uint8Array> {
  const encryptor = createEncryptor(Buffer.from(CHILD_ENVIRONMENT.ENCRYPTION_KEY, "base64"));
  const kept = new Uint8Array(book.pages.length);
  for await (const { encrypted_block } of eachRow(target, ORIGINALS))
    for (const { eventId } of decryptOriginals(encrypted_block as Uint8Array, encryptor)) {
      const number = book.numberOf(eventId);
      if (number !== undefined && number < kept.length) kept[number] = 1;
    }
  return kept;
}

/** What was posted and told for each event is what that event said, not another one's. */
async function compareEntries(target: Target, book: Book, faults: Faults): Promise<void> {
  for await (const { event_id, account, debit, credit } of eachRow(target, POSTINGS)) {
    const number = book.numberOf(String(event_id));
    if (number === undefined) continue;
    const { from, to, cents } = book.entryOf(number);
    const posted = `${account} ${debit} ${credit}`;
    // That there is one of each is for the balance to show.
    if (posted !== `${from} ${cents} 0` && posted !== `${to} 0 ${cents}`)
      faults.add("postings of another amount, or to other accounts", `${event_id} ${posted}`);
  }
  for await (const { event_id, payload } of eachRow(target, PAYLOADS)) {
    const number = book.numberOf(String(event_id));
    if (number === undefined) continue;
    const told = asJson(payload);
    if (told !== JSON.stringify({ event_id, cents: book.entryOf(number).cents }))
      faults.add("a notification that tells something else", `${event_id} ${told}`);
  }
}

const ORIGINALS = "SELECT encrypted_block FROM oncehook_originals";
const EFFECTS = "SELECT event_id, times FROM ledger_effects";
const POSTINGS = "SELECT event_id, account, debit, credit FROM ledger_postings";
const PAYLOADS = "SELECT event_id, payload FROM oncehook_notifications WHERE topic = 'ledger.posted'";
/** The types whose events move balances. */
const MOVING: ReadonlySet<string> = new Set(["ledger_transfer", "ledger_serial"]);
const BALANCES_ARE_POSTED = {
  what: "a balance that is not the sum of its postings",
  statement: `SELECT a.account, a.cents FROM ledger_accounts a WHERE a.cents <>
    (SELECT coalesce(sum(p.credit) - sum(p.debit), 0) FROM ledger_postings p WHERE p.account = a.account)`,
};
const BALANCES_ARE_NOTHING = {
  what: "a balance that nobody moved",
  statement: "SELECT account, cents FROM ledger_accounts WHERE cents <> 0",
};
const RECORDS = "SELECT event_id, result FROM oncehook_records WHERE event_type LIKE 'ledger_%'";

/** Each statement finds nothing where the books are in order. */
const CHECKS = [
  {
    what: "a record that is not completed",
    statement: "SELECT event_id, status FROM oncehook_records WHERE status <> 'completed' OR processed_at IS NULL",
  },
  {
    what: "postings of an event that do not balance",
    statement: `SELECT event_id FROM ledger_postings GROUP BY event_id
      HAVING count(*) <> 2 OR sum(debit) <> sum(credit)`,
  },
  {
    what: "postings without an effect",
    statement: `SELECT DISTINCT p.event_id FROM ledger_postings p
      LEFT JOIN ledger_effects e ON e.event_id = p.event_id WHERE e.event_id IS NULL`,
  },
  {
    what: "an effect without postings",
    statement: `SELECT e.event_id FROM ledger_effects e
      LEFT JOIN ledger_postings p ON p.event_id = e.event_id WHERE p.event_id IS NULL`,
  },
  {
    what: "an effect with another number of notifications than one",
    statement: `SELECT e.event_id, count(n.id) AS notifications FROM ledger_effects e
      LEFT JOIN oncehook_notifications n ON n.event_id = e.event_id GROUP BY e.event_id HAVING count(n.id) <> 1`,
  },
  {
    what: "a notification of an event without an effect",
    statement: `SELECT n.event_id FROM oncehook_notifications n
      LEFT JOIN ledger_effects e ON e.event_id = n.event_id WHERE e.event_id IS NULL`,
  },
  {
    what: "a record whose row in the log is missing",
    statement: `SELECT r.event_id FROM oncehook_records r LEFT JOIN oncehook_callbacks c ON c.id = r.callback_id
      WHERE r.callback_id IS NOT NULL AND c.id IS NULL`,
  },
  {
    what: "a failure that was left behind after the event succeeded",
    statement: `SELECT f.event_id FROM oncehook_failures f
      JOIN oncehook_records r ON r.event_id = f.event_id AND r.source = f.source`,
  },
] as const;

/** A result as the platform was answered it, in whatever form the driver gives it. */
function asJson(result: unknown): string {
  return typeof result === "string" ? JSON.stringify(JSON.parse(result)) : JSON.stringify(result);
}

/** Findings of one kind are counted, and some of them named. */
class Faults {
  readonly #found = new Map<string, string[]>();

  add(what: string, example: string): void {
    const examples = this.#found.get(what) ?? [];
    examples.push(example);
    this.#found.set(what, examples);
  }

  get lines(): string[] {
    return [...this.#found].map(([what, found]) => {
      const more = found.length > EXAMPLES ? ", …" : "";
      return `${found.length} × ${what}: ${found.slice(0, EXAMPLES).join(", ")}${more}`;
    });
  }
}
