import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withDatabase } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import type { Target } from "../support/open-target.ts";
import { SECRET } from "../support/secrets.ts";
import { audit } from "./driver/audit.ts";
import { Book } from "./driver/book.ts";
import { call } from "./driver/call.ts";
import { Fleet } from "./driver/fleet.ts";
import { ROUNDS } from "./rounds/index.ts";
import { NOT_ASKED, runRounds } from "./run-rounds.ts";
import { tableOf, verdictOf } from "./table.ts";

/** Each round with a few faults; `npm run torture` brings as many as docs/reliability.md tells of. */
const ROUND_LIMIT_MS = 420_000;

describe("under fire", () => {
  it.for(ROUNDS.map(({ name, title }) => [name, title] as const))(
    "nothing is lost and nothing doubled: %s (%s)",
    { timeout: ROUND_LIMIT_MS },
    async ([name], context) => {
      const lines: string[] = [];
      const seed = Math.floor(Math.random() * 0xffffffff);
      const [ended] = (
        await runRounds({ names: [name], seed, isShort: true, say: (line) => void lines.push(line) })
      ).filter(({ round }) => round.name === name);
      if (ended?.notRun !== undefined) return context.skip(`not run: ${ended.notRun}`);
      expect(ended?.faults, `npm run torture -- --short --round ${name} --seed ${seed}`).toEqual([]);
    },
  );
});

describe("the auditor", () => {
  let oneEvent: OneEvent;
  beforeAll(async () => {
    oneEvent = await handleOneEvent();
  });
  afterAll(() => oneEvent.destroy());

  /** What each forgery of the books is called. */
  it.each([
    ["an effect that is gone", "DELETE FROM ledger_effects WHERE event_id LIKE '%-0'", "without an effect"],
    ["a second effect", "UPDATE ledger_effects SET times = 2 WHERE event_id LIKE '%-0'", "with two effects"],
    ["an effect of nothing", "INSERT INTO ledger_effects VALUES ('forged-7', 1)", "that was never sent"],
    ["a record that is gone", "DELETE FROM oncehook_records WHERE event_id LIKE '%-0'", "without its record"],
    ["an original that is gone", "DELETE FROM oncehook_originals", "without its original"],
    [
      "another result",
      `UPDATE oncehook_records SET result = '{"posted":"x","cents":1}' WHERE event_id LIKE '%-0'`,
      "another result",
    ],
    ["a posting that is gone", "DELETE FROM ledger_postings WHERE credit > 0", "do not balance"],
    ["a notification that is gone", "DELETE FROM oncehook_notifications", "number of notifications"],
    ["a row of the log that is gone", "DELETE FROM oncehook_callbacks", "row in the log is missing"],
    [
      "another amount",
      "UPDATE ledger_postings SET debit = debit * 2, credit = credit * 2",
      "postings of another amount",
    ],
    ["another account", "UPDATE ledger_postings SET account = 'nobody'", "or to other accounts"],
    [
      "a balance that nobody posted",
      "UPDATE ledger_accounts SET cents = 1 WHERE account = 'account-3'",
      "a balance that nobody moved",
    ],
    [
      "another notification",
      "UPDATE oncehook_notifications SET payload = '{}'",
      "a notification that tells something else",
    ],
    [
      "what verify would find",
      "UPDATE oncehook_callbacks SET outcome = 'rejected'",
      "against what `oncehook verify` holds (log-of-record)",
    ],
    [
      "a record that is at work",
      "UPDATE oncehook_records SET status = 'processing' WHERE event_id LIKE '%-0'",
      "not completed",
    ],
  ])("the auditor finds %s", async (_title, statement, finding) => {
    const target = await oneEvent.copied();
    await execute(target, statement);
    expect((await audit(target, oneEvent.book)).faults.join("\n")).toContain(finding);
  });

  it("the auditor finds nothing where all is well", async () =>
    expect(await audit(await oneEvent.copied(), oneEvent.book)).toMatchObject({
      acknowledged: 1,
      lost: 0,
      doubled: 0,
      faults: [],
    }));

  it.each([
    ["of another event", '{"status":"success","data":{"posted":"other-0","cents":1}}'],
    ["that acknowledges nothing", '{"status":"ignored"}'],
  ])("the auditor does not take an answer %s for an acknowledgement", (_title, text) => {
    const book = new Book("answers", "ledger_posting", SECRET);
    const { number } = book.open();
    expect(book.answered(number, { status: 200, text })).toBe("wrong");
    expect([book.acknowledged, book.wrong]).toEqual([0, [`answers-0: 200 ${text}`]]);
  });

  it("the auditor finds a transfer that was made twice", () =>
    withDatabase("sqlite", async (target) => {
      const book = new Book("moved", "ledger_transfer", SECRET);
      const fleet = await Fleet.start(target);
      try {
        const { number, body } = book.open();
        book.answered(number, await call(fleet.origins[0] ?? "", body));
        await fleet.stopAll();
        expect((await audit(target, book)).faults).toEqual([]);
        await execute(target, "UPDATE ledger_accounts SET cents = cents * 2");
        expect((await audit(target, book)).faults.join("\n")).toContain("not the sum of its postings");
      } finally {
        await fleet.destroy();
      }
    }));

  it("the auditor counts two answers of success for one event as doubled", () =>
    withDatabase("sqlite", async (target) => {
      const book = new Book("twice", "ledger_posting", SECRET);
      const fleet = await Fleet.start(target);
      try {
        const { number, body } = book.open();
        const answer = await call(fleet.origins[0] ?? "", body);
        book.answered(number, answer);
        book.answered(number, answer);
        await fleet.stopAll();
        expect(await audit(target, book)).toMatchObject({ doubled: 1 });
      } finally {
        await fleet.destroy();
      }
    }));
});

/** A database with one handled event, each forgery of which is made on a copy. */
interface OneEvent {
  readonly book: Book;
  copied(): Promise<Target>;
  destroy(): Promise<void>;
}

async function handleOneEvent(): Promise<OneEvent> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-audited-"));
  const file = join(folder, "handled.db");
  const book = new Book("forged", "ledger_posting", SECRET);
  const fleet = await Fleet.start({ dialect: "sqlite", url: `sqlite:${file}` });
  try {
    const { number, body } = book.open();
    book.sending(number);
    book.answered(number, await call(fleet.origins[0] ?? "", body));
    await fleet.stopAll();
  } finally {
    await fleet.destroy();
  }
  let copies = 0;
  return {
    book,
    async copied() {
      copies += 1;
      const copy = join(folder, `forged-${copies}.db`);
      await copyFile(file, copy);
      return { dialect: "sqlite", url: `sqlite:${copy}` };
    },
    destroy: () => rm(folder, { recursive: true, force: true }),
  };
}

describe("what is printed", () => {
  const [first, second] = ROUNDS;
  if (first === undefined || second === undefined) throw new Error("there are rounds");
  const nothing = { seconds: 0, faults: [], isRight: undefined };

  it("the summary says of a round that this machine cannot run that it was not run, and why", () => {
    const ended = [{ ...nothing, round: first, notRun: "there is no compiler" }];
    expect(tableOf(ended)).toContain("not run: there is no compiler");
    expect(verdictOf(ended)).toContain(`Not run: ${first.name}.`);
  });

  it("the last line names the rounds that were not asked for", () => {
    const ended = [
      { ...nothing, round: first, isRight: true, ran: { count: 1, audits: [] } },
      { ...nothing, round: second, notRun: NOT_ASKED },
    ];
    expect(tableOf(ended)).not.toContain(second.title);
    expect(verdictOf(ended)).toMatch(new RegExp(`^1 of 2 rounds .* right.*\\nNot run: ${second.name}\\.$`));
  });

  it("the summary says which rounds were wrong", () => {
    const ended = [{ ...nothing, round: first, isRight: false, faults: ["lost"] }];
    expect(verdictOf(ended)).toContain(`WRONG: ${first.name}`);
  });
});
