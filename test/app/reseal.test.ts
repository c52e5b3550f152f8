import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { resealAll } from "../../src/app/reseal.ts";
import { sealContext } from "../../src/receive/index.ts";
import { createSealer, type Sealer } from "../../src/seal/index.ts";
import type { Store } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";

const NOW = new Date("2026-01-01T00:00:00.000Z");
const key = (number: number) => ({ source: "platform", eventId: `e${number}` });

async function fail(store: Store, number: number, sealer: Sealer): Promise<void> {
  const failure = {
    eventType: "t",
    version: "v1",
    code: "handler_failed",
    error: "e",
    bodySha256: "ab",
  } as const;
  const sealedBody = sealer.seal(Buffer.from(`body ${number}`), sealContext(key(number)));
  await store.failures.record({ ...key(number), ...failure, sealedBody, nextAttemptAt: null }, NOW);
}

describe.each(DIALECTS)("after a rotation of ENCRYPTION_KEY, on %s", (dialect) => {
  it("everything is encrypted anew, and the old key is needed no more", () =>
    withStore(dialect, async (store) => {
      const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
      const before = createSealer(oldKey);
      // More than fit a page, so that the next one goes on where it ended.
      for (let number = 0; number < 150; number += 1) await fail(store, number, before);
      const rotated = createSealer(newKey, [oldKey]);
      await fail(store, 150, rotated);
      expect(await resealAll(store.sealedValues, rotated)).toEqual({ resealed: 150, unreadable: 0 });
      expect(await resealAll(store.sealedValues, rotated)).toEqual({ resealed: 0, unreadable: 0 });
      const alone = createSealer(newKey);
      for (const number of [0, 99, 100, 149, 150]) {
        const stored = await store.failures.get(key(number));
        const body = alone.open(stored?.sealedBody ?? new Uint8Array(), sealContext(key(number)));
        expect(Buffer.from(body).toString()).toBe(`body ${number}`);
      }
    }));

  it("what no configured key can read is left as it is, and counted", () =>
    withStore(dialect, async (store) => {
      await fail(store, 1, createSealer(randomBytes(32)));
      const before = await store.failures.get(key(1));
      expect(await resealAll(store.sealedValues, createSealer(randomBytes(32)))).toEqual({
        resealed: 0,
        unreadable: 1,
      });
      expect((await store.failures.get(key(1)))?.sealedBody).toEqual(before?.sealedBody);
    }));

  it("a prepare step that has no result yet is passed over", () =>
    withStore(dialect, async (store) => {
      await store.preparations.claim(key(1), { owner: "a", now: NOW, until: NOW });
      const nothing = { resealed: 0, unreadable: 0 };
      expect(await resealAll(store.sealedValues, createSealer(randomBytes(32)))).toEqual(nothing);
    }));

  it("a value that changed meanwhile is not overwritten", () =>
    withStore(dialect, async (store) => {
      await fail(store, 1, createSealer(randomBytes(32)));
      const stale = { key: ["e1", "platform"], sealed: Buffer.of(1, 2, 3) };
      expect(await store.sealedValues.replace("failure", stale, Buffer.of(9))).toBe(false);
    }));
});
