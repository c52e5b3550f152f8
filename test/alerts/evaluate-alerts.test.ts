import { describe, expect, it } from "vitest";
import { evaluateAlerts } from "../../src/alerts/evaluate-alerts.ts";
import { createArrivalCounts } from "../../src/alerts/index.ts";
import { HOUR, slotOf, WEEK } from "../../src/alerts/policy.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { withStore } from "../support/databases.ts";

const NOW = new Date("2026-03-04T12:00:00.000Z");
const TYPES = ["a", "b", "c", "d"];
/** The day before the silence in five weeks, and the silence in four. */
const QUERIES_A_TYPE = 9;

describe("the judgement of many silent types on SQLite", () => {
  it("leaves callbacks a turn of the event loop between its queries", () =>
    withStore("sqlite", async ({ alerts }) => {
      const slot = slotOf(NOW);
      for (const week of [0, 1, 2, 3, 4, 5]) {
        const came = TYPES.map((type) => ({ source: "platform", subject: `type:${type}`, count: 9 }));
        await alerts.addArrivals(slot - week * WEEK - HOUR, came);
      }
      let turns = 0;
      let isOver = false;
      const turn = () => {
        turns += 1;
        if (!isOver) setImmediate(turn);
      };
      setImmediate(turn);
      const judging = {
        store: alerts,
        arrivals: createArrivalCounts(TYPES),
        kinds: new Set(["silence"] as const),
        silenceFloor: 20,
        isHandled: () => true,
        clock: { now: () => NOW },
        log: recordedLog(),
      };
      await evaluateAlerts(judging, NOW);
      isOver = true;
      expect(turns).toBeGreaterThanOrEqual(TYPES.length * QUERIES_A_TYPE);
    }));
});
