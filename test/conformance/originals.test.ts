import { describe, expect, it } from "vitest";
import { type Completion, type OriginalRequest, type Store, sealOriginal } from "../../src/store/index.ts";
import { DIALECTS, type Dialect, withStore } from "../support/databases.ts";
import { committing, newRecord, rowsOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { newFailure } from "../support/failure.ts";
import { logRow } from "../support/log-row.ts";
import { runOnce } from "../support/once.ts";
import { historyIn, originalsKeeper } from "../support/originals.ts";

const SINCE = new Date(0);
const keyOf = (eventId: string) => ({ source: "platform", eventId });
const BLOCKS = "SELECT count(*) AS count FROM oncehook_originals";

function completed(original?: OriginalRequest): Completion {
  return { result: {}, logEntry: logRow(), ...(original !== undefined && { original }) };
}

const run = (store: Store, eventId: string, original?: OriginalRequest, mode: "commit" | "dry-run" = "commit") =>
  runOnce(store, newRecord(eventId), async () => completed(original), { ...committing(), mode });

async function countOf(target: Parameters<typeof rowsOf>[0]): Promise<number> {
  return Number((await rowsOf(target, BLOCKS))[0]?.count);
}

/** A handler that reads before it writes: a sequential group on PostgreSQL. */
async function runReading(store: Store, eventId: string, original: OriginalRequest) {
  return runOnce(
    store,
    newRecord(eventId),
    async ({ tx }) => {
      await tx.query.selectFrom("oncehook_settings").selectAll().execute();
      await tx.query.selectFrom("oncehook_settings").select("name").execute();
      return completed(original);
    },
    committing(),
  );
}

function describeEach(name: string, body: (dialect: Dialect) => void): void {
  for (const dialect of DIALECTS) describe(`${name} on ${dialect}`, () => body(dialect));
}

describeEach("originals", (dialect) => {
  it("an original is found by its event, as it came", () =>
    withStore(dialect, async (store) => {
      const { keep, encryptor } = originalsKeeper();
      const request = keep("e1");
      await run(store, "e1", request);
      const { keeper: _, receivedAt, body, ...rest } = request;
      const found = await store.originals.find(keyOf("e1"), encryptor);
      expect(found).toMatchObject({ ...keyOf("e1"), eventType: "payment_notify", version: "v1", ...rest });
      expect(found?.receivedAt).toBe(receivedAt.toISOString());
      expect(Buffer.from(found?.body ?? [])).toEqual(body);
      expect(await store.originals.find(keyOf("e2"), encryptor)).toBeUndefined();
    }));

  it("the events of one group share a row, and each is found", () =>
    withStore(dialect, async (store, target) => {
      const { keep, encryptor } = originalsKeeper();
      const names = Array.from({ length: 24 }, (_, index) => `e${index}`);
      await Promise.all(names.map((name) => run(store, name, keep(name))));
      expect(await countOf(target)).toBeLessThan(names.length / 2);
      for (const name of names)
        expect((await store.originals.find(keyOf(name), encryptor))?.target).toBe(keep(name).target);
    }));

  it("the originals of handlers that read before they write are kept", () =>
    withStore(dialect, async (store) => {
      const { keep, encryptor } = originalsKeeper();
      const names = ["e1", "e2", "e3", "e4"];
      await Promise.all(names.map((name) => runReading(store, name, keep(name))));
      for (const name of names)
        expect((await store.originals.find(keyOf(name), encryptor))?.target).toBe(keep(name).target);
    }));

  it("events with other times to keep them have rows of their own", () =>
    withStore(dialect, async (store, target) => {
      const [day, week] = [originalsKeeper(), originalsKeeper({ keepMs: 7 * 86_400_000 })];
      await Promise.all([run(store, "e1", day.keep("e1")), run(store, "e2", week.keep("e2")), run(store, "e3")]);
      const rows = await rowsOf(target, "SELECT keep_until FROM oncehook_originals ORDER BY keep_until");
      expect(rows).toHaveLength(2);
      expect((await store.originals.find(keyOf("e2"), day.encryptor))?.eventId).toBe("e2");
      expect(await store.originals.find(keyOf("e3"), day.encryptor)).toBeUndefined();
    }));

  it("a dry run and a handler that fails keep no original", () =>
    withStore(dialect, async (store, target) => {
      const { keep } = originalsKeeper();
      await run(store, "e1", keep("e1"), "dry-run");
      const failing = runOnce(
        store,
        newRecord("e2"),
        async () => {
          throw new Error("down");
        },
        committing(),
      );
      await expect(failing).rejects.toThrow("down");
      expect(await countOf(target)).toBe(0);
    }));

  it("an event is handled without its original where the table cannot be written, and the next without a try", () =>
    withStore(dialect, async (store, target) => {
      const { keep, errors, encryptor } = originalsKeeper();
      await execute(target, "ALTER TABLE oncehook_originals RENAME TO hidden");
      const names = ["e1", "e2", "e3", "e4"];
      const ended = await Promise.all(names.map((name) => run(store, name, keep(name))));
      expect(ended.map(({ kind }) => kind)).toEqual(names.map(() => "completed"));
      expect((await run(store, "e5", keep("e5"))).kind).toBe("completed");
      const original = sealOriginal(newRecord("e6"), originalsKeeper().keep("e6"));
      await store.failures.record(newFailure(keyOf("e6"), null, { original }), new Date());
      expect((await store.failures.get(keyOf("e6")))?.state).toBe("exhausted");
      expect(errors).toHaveLength(1);
      await execute(target, "ALTER TABLE hidden RENAME TO oncehook_originals");
      expect(await store.originals.find(keyOf("e1"), encryptor)).toBeUndefined();
    }));

  it("a failed event's original is stored with it, once, and stays after its success", () =>
    withStore(dialect, async (store, target) => {
      const { keep, encryptor } = originalsKeeper();
      const failure = (body: string) => {
        const original = sealOriginal(newRecord("e1"), keep("e1", { body: Buffer.from(body) }));
        return newFailure(keyOf("e1"), new Date(), { original });
      };
      await store.failures.record(failure("first"), new Date());
      await store.failures.record(failure("second"), new Date());
      expect(await countOf(target)).toBe(1);
      // A retry has no request.
      await run(store, "e1");
      const found = await store.originals.find(keyOf("e1"), encryptor);
      expect(Buffer.from(found?.body ?? []).toString()).toBe("first");
    }));

  it("a rejected event that its platform sends mended has the mended original", () =>
    withStore(dialect, async (store) => {
      const { keep, encryptor } = originalsKeeper();
      const rejected = (body: string) => {
        const original = sealOriginal(newRecord("e1"), keep("e1", { body: Buffer.from(body) }));
        return newFailure(keyOf("e1"), null, { isRejected: true, original });
      };
      await store.failures.record(rejected("broken"), new Date());
      await store.failures.record(rejected("mended"), new Date());
      const bodyOf = async () =>
        Buffer.from((await store.originals.find(keyOf("e1"), encryptor))?.body ?? []).toString();
      expect(await bodyOf()).toBe("mended");
      await run(store, "e1", keep("e1", { body: Buffer.from("right") }));
      expect(await bodyOf()).toBe("right");
      const originals = await historyIn(store, encryptor);
      expect(originals.map(({ body }) => Buffer.from(body).toString())).toEqual(["right"]);
    }));

  it("a history has each original once, in the order of arrival", () =>
    withStore(dialect, async (store) => {
      const { keep, encryptor } = originalsKeeper();
      const at = (seconds: number) => ({ receivedAt: new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)) });
      await run(store, "e1", keep("e1", at(1)));
      const accepted = { original: sealOriginal(newRecord("e2"), keep("e2", at(2))) };
      await store.failures.record(newFailure(keyOf("e2"), null, accepted), new Date());
      await Promise.all([4, 3, 5].map((second) => run(store, `e${second}`, keep(`e${second}`, at(second)))));
      const names = (await historyIn(store, encryptor)).map(({ eventId }) => eventId);
      expect(names.slice(0, 2)).toEqual(["e1", "e2"]);
      expect(names.toSorted()).toEqual(["e1", "e2", "e3", "e4", "e5"]);
      const late = await historyIn(store, encryptor, { since: at(4).receivedAt });
      expect(late.map(({ eventId }) => eventId).toSorted()).toEqual(["e4", "e5"]);
      expect(await historyIn(store, encryptor, { source: "stripe" })).toEqual([]);
    }));

  it("originals of events that no handler took are stored with their log entries, found, read again and deleted", () =>
    withStore(dialect, async (store, target) => {
      const { keep, encryptor } = originalsKeeper();
      const ignored = (eventId: string) => ({
        ...logRow({ ...keyOf(eventId), outcome: "ignored" }),
        unhandled: { record: newRecord(eventId), completion: { original: keep(eventId) } },
      });
      await store.appendCallbacks([logRow({ eventId: "other" }), ignored("e1"), ignored("e2")]);
      await store.appendCallbacks([ignored("e1")]);
      expect(await countOf(target)).toBe(2);
      for (const name of ["e1", "e2"])
        expect((await store.originals.find(keyOf(name), encryptor))?.target).toBe(keep(name).target);
      expect(await store.originals.find(keyOf("other"), encryptor)).toBeUndefined();
      const originals = await historyIn(store, encryptor);
      expect(originals.map(({ eventId }) => eventId).toSorted()).toEqual(["e1", "e1", "e2"]);
      // A handler takes the next delivery: its original counts.
      await run(store, "e1", keep("e1", { body: Buffer.from("handled") }));
      const found = await store.originals.find(keyOf("e1"), encryptor);
      expect(Buffer.from(found?.body ?? []).toString()).toBe("handled");
      await store.retention.sweep({
        callbacks: SINCE,
        refusedRowsKept: 10,
        now: new Date(Date.now() + 2 * 86_400_000),
      });
      expect(await countOf(target)).toBe(1);
    }));

  it("log entries are stored without their originals where the table cannot be written", () =>
    withStore(dialect, async (store, target) => {
      const { keep, errors } = originalsKeeper();
      await execute(target, "ALTER TABLE oncehook_originals RENAME TO hidden");
      const unhandled = { record: newRecord("e1"), completion: { original: keep("e1") } };
      await store.appendCallbacks([{ ...logRow({ ...keyOf("e1"), outcome: "ignored" }), unhandled }]);
      expect((await rowsOf(target, "SELECT event_id FROM oncehook_callbacks")).map((row) => row.event_id)).toEqual([
        "e1",
      ]);
      expect(errors).toHaveLength(1);
    }));

  it("the retention job deletes each original after its own time, but for the newest row", () =>
    withStore(dialect, async (store, target) => {
      const [day, week] = [originalsKeeper(), originalsKeeper({ keepMs: 7 * 86_400_000 })];
      await run(store, "e1", day.keep("e1"));
      await run(store, "e2", week.keep("e2"));
      await run(store, "e3", day.keep("e3"));
      const now = new Date(Date.now() + 2 * 86_400_000);
      await store.retention.sweep({ callbacks: SINCE, refusedRowsKept: 10, now });
      expect(await countOf(target)).toBe(2);
      expect(await store.originals.find(keyOf("e1"), day.encryptor)).toBeUndefined();
      expect((await store.originals.find(keyOf("e2"), day.encryptor))?.eventId).toBe("e2");
    }));
});
