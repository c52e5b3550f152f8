import { describe, expect, it } from "vitest";
import type { StoredSession } from "../../src/store/index.ts";
import { DIALECTS, openTarget, withStore } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";

const NOON = new Date("2026-03-04T12:00:00.250Z");
const later = (seconds: number) => new Date(NOON.getTime() + seconds * 1000);
const ID = "a".repeat(64);
const SESSION: StoredSession = {
  actor: "ada@example.com",
  role: "viewer",
  credentialFingerprint: "f",
  startedAt: NOON,
  expiresAt: later(60),
};

describe.each(DIALECTS)("sessions on %s", (dialect) => {
  it("any process finds a session as it was created, until it expires", () =>
    withStore(dialect, async ({ sessions }, target) => {
      await sessions.create(ID, SESSION);
      const { store: other } = await openTarget(target);
      expect(await other.sessions.find(ID, later(59))).toEqual(SESSION);
      await other.close();
      expect(await sessions.find(ID, later(60))).toBeUndefined();
      expect(await sessions.find("b".repeat(64), NOON)).toBeUndefined();
    }));

  it("a session can have a name that PostgreSQL's text cannot hold", () =>
    withStore(dialect, async ({ sessions }) => {
      await sessions.create(ID, { ...SESSION, actor: "a\u0000" });
      expect(await sessions.find(ID, NOON)).toMatchObject({ actor: "a\uFFFD" });
    }));

  it("the store tells which of many sessions are valid in one query", () =>
    withStore(dialect, async ({ sessions }) => {
      const [first, second, ended] = ["a", "b", "c"].map((digit) => digit.repeat(64)) as [string, string, string];
      await sessions.create(first, { ...SESSION, expiresAt: later(600) });
      await sessions.create(second, SESSION);
      await sessions.create(ended, SESSION);
      await sessions.end(ended);
      const all = [first, second, ended, "d".repeat(64)];
      expect(await sessions.among(all, NOON)).toEqual(new Set([first, second]));
      expect(await sessions.among(all, later(60))).toEqual(new Set([first]));
      expect(await sessions.among([], NOON)).toEqual(new Set());
    }));

  it("a session ends at once, for every process, and an unknown one may be ended too", () =>
    withStore(dialect, async ({ sessions }, target) => {
      await sessions.create(ID, SESSION);
      const { store: other } = await openTarget(target);
      await other.sessions.end(ID);
      await other.sessions.end(ID);
      await other.close();
      expect(await sessions.find(ID, NOON)).toBeUndefined();
    }));

  it("the retention job deletes sessions once they have expired, and not before", () =>
    withStore(dialect, async (store, target) => {
      await store.sessions.create(ID, SESSION);
      await store.sessions.create("b".repeat(64), { ...SESSION, expiresAt: later(600) });
      const limits = { callbacks: NOON, refusedRowsKept: 10 };
      expect(await store.retention.sweep({ ...limits, now: later(61) })).toMatchObject({ stale: 1 });
      expect(await countOf(target, "oncehook_sessions")).toBe(1);
      expect(await store.sessions.find("b".repeat(64), later(61))).toBeDefined();
    }));
});
