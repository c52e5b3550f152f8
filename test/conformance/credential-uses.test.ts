import { describe, expect, it } from "vitest";
import { DIALECTS, withStore } from "../support/databases.ts";
import { inspectTarget } from "../support/inspect-target.ts";

const day = (number: number) => new Date(Date.UTC(2026, 0, number));
const SECRET = { method: "hmac", fingerprint: "a" };

describe.each(DIALECTS)("the uses of a secret on %s", (dialect) => {
  it("the uses of a secret are kept for the secret, whether it is current or previous", () =>
    withStore(dialect, async (store, target) => {
      await store.credentialUses.noteConfigured([{ ...SECRET, isPrevious: false }], day(1));
      await store.credentialUses.note(SECRET, day(2));
      await store.credentialUses.noteConfigured([{ ...SECRET, isPrevious: true }], day(3));
      await store.credentialUses.note(SECRET, day(4));
      await store.credentialUses.note({ ...SECRET, method: "token" }, day(5));
      expect(await inspectTarget(target)).toMatchObject({
        credentialUses: expect.arrayContaining([
          { ...SECRET, previousSince: day(3).toISOString(), lastUsedAt: day(4).toISOString() },
          { ...SECRET, method: "token", previousSince: null, lastUsedAt: day(5).toISOString() },
        ]),
      });
    }));

  it("the store returns the uses of the secrets that are asked for, and no others", () =>
    withStore(dialect, async (store) => {
      const other = { method: "token", fingerprint: "b" };
      await store.credentialUses.noteConfigured([{ ...SECRET, isPrevious: true }], day(1));
      await store.credentialUses.note(other, day(2));
      await store.credentialUses.note({ method: "hmac", fingerprint: "b" }, day(3));
      const previous = { ...SECRET, previousSince: day(1).toISOString(), lastUsedAt: null };
      expect(await store.credentialUses.list([])).toEqual([]);
      expect(await store.credentialUses.list([SECRET])).toEqual([previous]);
      const uses = await store.credentialUses.list([other, SECRET, { method: "jwt", fingerprint: "a" }]);
      expect(uses).toHaveLength(2);
      expect(uses).toEqual(
        expect.arrayContaining([
          previous,
          { ...other, previousSince: null, lastUsedAt: day(2).toISOString() },
        ]),
      );
    }));

  it("the uses of a previous secret count from the first start with it, until it is current again", () =>
    withStore(dialect, async (store, target) => {
      const since = async () => {
        const found = await inspectTarget(target);
        return found.exists ? found.credentialUses.map(({ previousSince }) => previousSince) : [];
      };
      for (const number of [1, 2]) {
        await store.credentialUses.noteConfigured([{ ...SECRET, isPrevious: true }], day(number));
        expect(await since()).toEqual([day(1).toISOString()]);
      }
      await store.credentialUses.noteConfigured([{ ...SECRET, isPrevious: false }], day(3));
      expect(await since()).toEqual([null]);
      await store.credentialUses.noteConfigured([{ ...SECRET, isPrevious: true }], day(4));
      expect(await since()).toEqual([day(4).toISOString()]);
    }));
});
