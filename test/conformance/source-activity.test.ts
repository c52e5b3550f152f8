import { describe, expect, it } from "vitest";
import { DIALECTS, withStore } from "../support/databases.ts";
import { logRow } from "../support/log-row.ts";

const START = Date.parse("2026-05-06T07:00:00.000Z");
const at = (seconds: number) => new Date(START + seconds * 1_000).toISOString();
const DAY = { from: at(0), to: at(86_400) };
const ALL = { budgetMs: 60_000 };

/** One a second, each slower than the one before. */
const rows = (count: number, source = "shop") =>
  Array.from({ length: count }, (_, index) =>
    logRow({ receivedAt: at(index), source, eventId: `e${index}`, processingMs: index }),
  );

describe.each(DIALECTS)("what the callback log has of one source on %s", (dialect) => {
  it("the slowest callbacks of a source come first, those of other sources and times left out", () =>
    withStore(dialect, async (store) => {
      await store.appendCallbacks([
        ...rows(200),
        ...rows(300, "other"),
        logRow({ receivedAt: at(-1), processingMs: 1e6 }),
      ]);
      const found = await store.sourceActivity.slowest({ source: "shop", ...DAY }, { limit: 3, ...ALL });
      expect(found.callbacks.map(({ eventId, processingMs }) => [eventId, processingMs])).toEqual([
        ["e199", 199],
        ["e198", 198],
        ["e197", 197],
      ]);
      expect(found.isComplete).toBe(true);
      const minute = { source: "shop", from: at(0), to: at(60) };
      const [slowest] = (await store.sourceActivity.slowest(minute, { limit: 1, ...ALL })).callbacks;
      expect(slowest?.eventId).toBe("e59");
    }));

  it("a look for the slowest callbacks ends when its time is over, and says so", () =>
    withStore(dialect, async (store) => {
      await store.appendCallbacks(rows(400));
      const found = await store.sourceActivity.slowest({ source: "shop", ...DAY }, { limit: 3, budgetMs: 0 });
      expect([found.callbacks.length, found.isComplete]).toEqual([3, false]);
    }));

  it("ignored callbacks are counted by type, as far back as the bound reaches", () =>
    withStore(dialect, async (store) => {
      const ignored = (eventType: string, seconds: number, source = "shop") =>
        logRow({ outcome: "ignored", eventType, source, receivedAt: at(seconds) });
      await store.appendCallbacks([
        ...[ignored("a", 1), ignored("b", 2), ignored("a", 3), ignored("c", 4, "other"), logRow({ source: "shop" })],
      ]);
      const types = [
        { eventType: "a", count: 2, firstAt: at(1), lastAt: at(3) },
        { eventType: "b", count: 1, firstAt: at(2), lastAt: at(2) },
      ];
      expect(await store.sourceActivity.ignoredTypes("shop", 10)).toEqual({ types, since: null });
      const bounded = await store.sourceActivity.ignoredTypes("shop", 2);
      expect(bounded).toEqual({ types: [{ ...types[0], count: 1, firstAt: at(3) }], since: at(3) });
    }));

  it("the last check of each source is kept, and replaces the one before", () =>
    withStore(dialect, async ({ endpointChecks }) => {
      await endpointChecks.note("shop", '{"reached":false}');
      await endpointChecks.note("shop", '{"reached":true}');
      expect(await endpointChecks.last("shop")).toBe('{"reached":true}');
      expect(await endpointChecks.last("other")).toBeUndefined();
    }));
});
