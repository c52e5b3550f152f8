import { describe, expect, it } from "vitest";
import type { Lease } from "../../src/store/index.ts";
import { DIALECTS, type Target, withStore } from "../support/databases.ts";
import { execute } from "../support/execute.ts";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000);
const lease = (owner: string, seconds: number): Lease => ({
  owner,
  now: at(seconds),
  until: at(seconds + 30),
});
const FRESH = { encrypted: Buffer.of(2), expiresAt: at(7_200), refreshAt: at(7_000) };

const addTokens = (target: Target, userId: string, refreshAt: number) =>
  execute(
    target,
    `INSERT INTO oncehook_user_tokens (user_id, encrypted_tokens, expires_at, refresh_at, updated_at) VALUES ('${userId}',
      ${target.dialect === "sqlite" ? "x'01'" : "'\\x01'::bytea"}, '${at(3_600).toISOString()}',
      '${at(refreshAt).toISOString()}', '${T0.toISOString()}')`,
  );

describe.each(DIALECTS)("the tokens of users on %s", (dialect) => {
  it("one process at a time refreshes tokens, starting with those that have waited longest", () =>
    withStore(dialect, async ({ userTokens }, target) => {
      for (const [userId, refreshAt] of [
        ["ada", 60],
        ["bob", 10],
        ["eve", 30],
        ["joe", 999],
      ] as const)
        await addTokens(target, userId, refreshAt);
      const due = async (owner: string, seconds: number, limit = 9) =>
        (await userTokens.leaseDue(lease(owner, seconds), limit)).map(({ userId }) => userId).sort();
      expect(await due("a", 60, 2)).toEqual(["bob", "eve"]);
      expect(await due("b", 60)).toEqual(["ada"]);
      expect(await userTokens.leaseOne("ada", lease("c", 89))).toBe("leased");
      expect(await userTokens.leaseOne("kim", lease("c", 89))).toBe("absent");
      expect(await due("c", 89)).toEqual([]);
      expect(await due("c", 90)).toEqual(["ada", "bob", "eve"]);
    }));

  it("the process that leased tokens can save, release and remove them, and no other can", () =>
    withStore(dialect, async ({ userTokens }, target) => {
      await addTokens(target, "ada", 10);
      await userTokens.leaseOne("ada", lease("a", 10));
      expect(await userTokens.save("ada", "b", FRESH, at(11))).toBe(false);
      expect(await userTokens.remove("ada", "b")).toBe(false);
      await userTokens.release("ada", "b", { refreshAt: null, error: "late" });
      expect(await userTokens.leaseOne("ada", lease("b", 12))).toBe("leased");
      expect(await userTokens.get("ada")).toMatchObject({ expiresAt: at(3_600).toISOString(), error: null });
      expect(await userTokens.save("ada", "a", FRESH, at(12))).toBe(true);
      expect(await userTokens.get("ada")).toMatchObject({ expiresAt: at(7_200).toISOString() });
      expect(await userTokens.leaseOne("ada", lease("b", 12))).toMatchObject({ userId: "ada" });
      expect(await userTokens.remove("ada", "b")).toBe(true);
      expect(await userTokens.get("ada")).toBeUndefined();
    }));

  it("tokens state why they cannot be refreshed, until they are", () =>
    withStore(dialect, async ({ userTokens }, target) => {
      await addTokens(target, "ada", 10);
      await userTokens.leaseOne("ada", lease("a", 10));
      await userTokens.release("ada", "a", { refreshAt: null, error: "refused \u0000" });
      expect(await userTokens.get("ada")).toMatchObject({ error: "refused \uFFFD" });
      expect(await userTokens.leaseDue(lease("a", 9_999), 9)).toEqual([]);
      await userTokens.leaseOne("ada", lease("a", 20));
      await userTokens.save("ada", "a", FRESH, at(20));
      expect(await userTokens.get("ada")).toMatchObject({ error: null });
      expect(await userTokens.leaseDue(lease("a", 7_000), 9)).toHaveLength(1);
    }));

  it("tokens keep their times where the clocks of two processes are seconds apart", () =>
    withStore(dialect, async ({ userTokens }, target) => {
      await addTokens(target, "ada", 60);
      // Of a process whose clock is 50 seconds ahead.
      await userTokens.leaseOne("ada", { owner: "a", now: at(50), until: at(80) });
      await userTokens.repairTimes(30_000, at(-9));
      expect(await userTokens.get("ada")).toMatchObject({ expiresAt: at(3_600).toISOString() });
      await userTokens.repairTimes(30_000, at(60));
      expect(await userTokens.leaseOne("ada", lease("b", 79))).toBe("leased");
      expect(await userTokens.leaseOne("ada", lease("b", 80))).toMatchObject({ userId: "ada" });
    }));
});
