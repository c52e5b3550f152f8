import { describe, expect, it } from "vitest";
import { keyText } from "../../src/domain/index.ts";
import type { Receiver } from "../../src/pipeline/index.ts";
import { savePrepared } from "../../src/pipeline/prepare-once.ts";
import { type Store, StoreError } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";
import { overriding } from "../support/overriding.ts";

const key = { source: "platform", eventId: "e1" };
const log = { debug() {}, info() {}, warn() {}, error() {} };
const encrypted = Buffer.from("encrypted");

/** A real store that does not take the first results it is given, as when its connection is cut. */
function unreliable(
  store: Store,
  failing: { times: number },
): Pick<Receiver, "store" | "log" | "unsavedPreparations"> & {
  encryptor: Pick<Receiver["encryptor"], "encrypt">;
} {
  const save: Store["preparations"]["save"] = async (...args) => {
    failing.times -= 1;
    if (failing.times >= 0) throw new StoreError("unavailable", "cut off", undefined);
    return store.preparations.save(...args);
  };
  return {
    store: { ...store, preparations: overriding(store.preparations, { save }) },
    log,
    encryptor: { encrypt: () => encrypted },
    unsavedPreparations: new Map(),
  };
}

async function claim(store: Store, owner: string, ms: number): Promise<{ owner: string; endsAt: number }> {
  const now = new Date();
  await store.preparations.claim(key, { owner, now, until: new Date(now.getTime() + ms) });
  return { owner, endsAt: performance.now() + ms };
}

describe.each(DIALECTS)("what prepare gave on %s", (dialect) => {
  it("a prepared result is stored although the database first refuses it", () =>
    withStore(dialect, async (store) => {
      const held = await claim(store, "a", 5_000);
      const receiver = unreliable(store, { times: 3 }) as Receiver;
      expect(await savePrepared(key, held, "{}", receiver)).toBe("saved");
      expect(Buffer.from((await store.preparations.get(key))!)).toEqual(encrypted);
    }));

  it("what prepare gave waits in this process when the database stays away for as long as the lease", () =>
    withStore(dialect, async (store) => {
      const held = await claim(store, "a", 250);
      const receiver = unreliable(store, { times: 99 }) as Receiver;
      expect(await savePrepared(key, held, '{"token":1}', receiver)).toBe("unsaved");
      expect([...receiver.unsavedPreparations.values()]).toEqual(['{"token":1}']);
    }));

  it("what prepare gave gives way to what another delivery has stored, and says when that has stored nothing yet", () =>
    withStore(dialect, async (store) => {
      const receiver = unreliable(store, { times: 0 }) as Receiver;
      await claim(store, "other", 5_000);
      const held = { owner: "late", endsAt: performance.now() + 1_000 };
      expect(await savePrepared(key, held, "{}", receiver)).toBe("lost");
      await store.preparations.save(key, "other", Buffer.from("theirs"));
      expect(Buffer.from((await savePrepared(key, held, "{}", receiver)) as Uint8Array)).toEqual(Buffer.from("theirs"));
    }));

  it("what prepare gave leaves memory once another delivery's result is stored", () =>
    withStore(dialect, async (store) => {
      const receiver = unreliable(store, { times: 0 }) as Receiver;
      receiver.unsavedPreparations.set(keyText(key), "{}");
      await claim(store, "other", 5_000);
      await store.preparations.save(key, "other", Buffer.from("theirs"));
      await savePrepared(key, { owner: "late", endsAt: 0 }, "{}", receiver);
      expect(receiver.unsavedPreparations.size).toBe(0);
    }));

  it("what prepare gave stays in memory while another delivery holds the lease, until the event has its record", () =>
    withStore(dialect, async (store) => {
      const receiver = unreliable(store, { times: 0 }) as Receiver;
      const late = { owner: "late", endsAt: 0 };
      await claim(store, "other", 5_000);
      expect(await savePrepared(key, late, '{"token":1}', receiver)).toBe("lost");
      expect([...receiver.unsavedPreparations.values()]).toEqual(['{"token":1}']);
      await runOnce(store, newRecord("e1"), async () => ({ result: {} }), committing());
      expect(await savePrepared(key, late, '{"token":1}', receiver)).toBe("lost");
      expect(receiver.unsavedPreparations.size).toBe(0);
    }));

  it("what prepare gave takes the place of the oldest unsaved result when memory holds a thousand, and the log names that one", () =>
    withStore(dialect, async (store) => {
      const logged: unknown[] = [];
      const other = (n: number) => keyText({ source: "platform", eventId: `other ${n}` });
      const error = (fields: object, message: string) => void logged.push([fields, message]);
      const receiver = { ...unreliable(store, { times: 99 }), log: { ...log, error } } as unknown as Receiver;
      for (let n = 0; n < 1_000; n += 1) receiver.unsavedPreparations.set(other(n), "{}");
      const spent = { owner: "a", endsAt: 0 };
      expect(await savePrepared(key, spent, '{"token":1}', receiver)).toBe("unsaved");
      // The same event again takes no further place.
      expect(await savePrepared(key, spent, '{"token":2}', receiver)).toBe("unsaved");
      expect(receiver.unsavedPreparations.size).toBe(1_000);
      expect(receiver.unsavedPreparations.get(keyText(key))).toBe('{"token":2}');
      expect([receiver.unsavedPreparations.has(other(0)), receiver.unsavedPreparations.has(other(1))]).toEqual([
        false,
        true,
      ]);
      expect(logged).toEqual([
        [expect.anything(), expect.stringContaining("kept in memory")],
        [{ event_id: "other 0" }, expect.stringContaining("the oldest, is dropped")],
        [expect.anything(), expect.stringContaining("kept in memory")],
      ]);
    }));
});
