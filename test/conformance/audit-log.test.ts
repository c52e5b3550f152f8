import { describe, expect, it } from "vitest";
import type { AuditFilter, NewAuditEntry } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";

const NOON = new Date("2026-03-04T12:00:00.250Z");
const DAY_MS = 86_400_000;
const PAGE = { limit: 9, budgetMs: 60_000 };
const ENTRY: NewAuditEntry = {
  at: NOON,
  actor: "token",
  role: "operator",
  remoteAddress: "127.0.0.1",
  action: "failure.replay",
  target: "platform/evt_1",
  detail: { dry_run: true },
  outcome: null,
};

describe.each(DIALECTS)("the audit log on %s", (dialect) => {
  it("the audit log has an entry before its outcome is known, and the outcome afterwards", () =>
    withStore(dialect, async ({ audit }) => {
      const id = await audit.begin(ENTRY);
      const { at: _, ...kept } = { ...ENTRY, id, timestamp: NOON.toISOString() };
      expect((await audit.search({}, PAGE)).rows).toEqual([kept]);
      await audit.end(id, "refused");
      expect((await audit.search({}, PAGE)).rows).toEqual([{ ...kept, outcome: "refused" }]);
    }));

  it("the audit log is listed newest first in pages, by action, by actor, and by both", () =>
    withStore(dialect, async ({ audit }) => {
      const ids: number[] = [];
      for (const [who, action] of [
        ["ada", "failure.replay"],
        ["ben", "failure.replay"],
        ["ada", "failure.discard"],
        [null, "session.refused"],
      ] as const)
        ids.push(await audit.begin({ ...ENTRY, actor: who, action }));
      const [first, second, third, fourth] = ids;
      const found = async (filter: AuditFilter, page = {}) => {
        const { rows, next } = await audit.search(filter, { ...PAGE, ...page });
        return [...rows.map(({ id }) => id), next];
      };
      expect(await found({}, { limit: 3 })).toEqual([fourth, third, second, second]);
      expect(await found({}, { limit: 3, before: second! })).toEqual([first, null]);
      expect(await found({ action: "failure.replay" })).toEqual([second, first, null]);
      expect(await found({ actor: "ada" })).toEqual([third, first, null]);
      expect(await found({ actor: "ada", action: "failure.replay" })).toEqual([first, null]);
      expect(await found({ actor: "nobody" })).toEqual([null]);
    }));

  it("the audit log stores text that PostgreSQL's text cannot hold", () =>
    withStore(dialect, async ({ audit }) => {
      await audit.begin({
        ...ENTRY,
        actor: "a\u0000b\u0000\u0000",
        target: "lone \ud800",
        detail: { text: "\u0000" },
      });
      expect((await audit.search({}, PAGE)).rows).toMatchObject([
        { actor: "a\uFFFDb\uFFFD\uFFFD", target: "lone \uFFFD", detail: { text: "\u0000" } },
      ]);
    }));

  it("the audit log is kept for a year, or as long as the callback log where that is longer", () =>
    withStore(dialect, async (store) => {
      await store.audit.begin(ENTRY);
      await store.audit.begin({ ...ENTRY, at: new Date(NOON.getTime() + 40 * DAY_MS), action: "younger" });
      const left = async (days: number, keptDays: number) => {
        const now = new Date(NOON.getTime() + days * DAY_MS);
        const callbacks = new Date(now.getTime() - keptDays * DAY_MS);
        await store.retention.sweep({ callbacks, refusedRowsKept: 10, now });
        return (await store.audit.search({}, PAGE)).rows.map(({ action }) => action);
      };
      expect(await left(364, 30)).toEqual(["younger", "failure.replay"]);
      expect(await left(380, 400)).toEqual(["younger", "failure.replay"]);
      expect(await left(380, 30)).toEqual(["younger"]);
    }));
});
