import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { reencryptAll } from "../../src/credentials/reencryption.ts";
import { failureContext } from "../../src/pipeline/index.ts";
import type { Store } from "../../src/store/index.ts";
import { createEncryptor, type Encryptor } from "../../src/system/encryption.ts";
import { describeFullOnPostgres, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { logRow } from "../support/log-row.ts";
import { runOnce } from "../support/once.ts";
import { originalsKeeper } from "../support/originals.ts";

const NOW = new Date("2026-01-01T00:00:00.000Z");
const key = (number: number) => ({ source: "platform", eventId: `e${number}` });

async function fail(store: Store, number: number, encryptor: Encryptor): Promise<void> {
  const failure = {
    eventType: "t",
    version: "v1",
    code: "handler_failed",
    error: "e",
    bodySha256: "ab",
  } as const;
  const encryptedBody = encryptor.encrypt(Buffer.from(`body ${number}`), failureContext(key(number)));
  await store.failures.record({ ...key(number), ...failure, encryptedBody, nextAttemptAt: null }, NOW);
}

describeFullOnPostgres("after a rotation of ENCRYPTION_KEY, on %s", (dialect) => {
  it("all data is encrypted again, and the old key is not needed", () =>
    withStore(dialect, async (store) => {
      const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
      const before = createEncryptor(oldKey);
      // More than fit a page, so that the next one goes on where it ended.
      for (let number = 0; number < 150; number += 1) await fail(store, number, before);
      const rotated = createEncryptor(newKey, [oldKey]);
      await fail(store, 150, rotated);
      expect(await reencryptAll(store.encryptedValues, rotated)).toEqual({ reencrypted: 150, unreadable: 0 });
      expect(await reencryptAll(store.encryptedValues, rotated)).toEqual({ reencrypted: 0, unreadable: 0 });
      const alone = createEncryptor(newKey);
      for (const number of [0, 99, 100, 149, 150]) {
        const stored = await store.failures.get(key(number));
        const body = alone.decrypt(stored?.encryptedBody ?? new Uint8Array(), failureContext(key(number)));
        expect(Buffer.from(body).toString()).toBe(`body ${number}`);
      }
    }));

  it("originals are encrypted again, and are found without the old key", () =>
    withStore(dialect, async (store) => {
      const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
      const { keep } = originalsKeeper({ encryptor: createEncryptor(oldKey) });
      const completed = { result: {}, logEntry: logRow(), original: keep("e1") };
      await runOnce(store, newRecord("e1"), async () => completed, committing());
      const rotated = createEncryptor(newKey, [oldKey]);
      expect(await reencryptAll(store.encryptedValues, rotated)).toEqual({ reencrypted: 1, unreadable: 0 });
      const found = await store.originals.find(key(1), createEncryptor(newKey));
      expect(found?.target).toBe(keep("e1").target);
    }));

  it("a value that no configured key can read is left unchanged, and counted", () =>
    withStore(dialect, async (store) => {
      await fail(store, 1, createEncryptor(randomBytes(32)));
      const before = await store.failures.get(key(1));
      expect(await reencryptAll(store.encryptedValues, createEncryptor(randomBytes(32)))).toEqual({
        reencrypted: 0,
        unreadable: 1,
      });
      expect((await store.failures.get(key(1)))?.encryptedBody).toEqual(before?.encryptedBody);
    }));

  it("a prepare step that has no result yet is passed over", () =>
    withStore(dialect, async (store) => {
      await store.preparations.claim(key(1), { owner: "a", now: NOW, until: NOW });
      const nothing = { reencrypted: 0, unreadable: 0 };
      expect(await reencryptAll(store.encryptedValues, createEncryptor(randomBytes(32)))).toEqual(nothing);
    }));

  it("a value that changed meanwhile is not overwritten", () =>
    withStore(dialect, async (store) => {
      await fail(store, 1, createEncryptor(randomBytes(32)));
      const stale = { key: ["e1", "platform"], encrypted: Buffer.of(1, 2, 3) };
      expect(await store.encryptedValues.replace("failure", stale, Buffer.of(9))).toBe(false);
    }));
});
