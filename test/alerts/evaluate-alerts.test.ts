import { describe, expect, it } from "vitest";
import { evaluateAlerts } from "../../src/alerts/evaluate-alerts.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { withStore } from "../support/databases.ts";

const NOW = new Date("2026-03-04T12:00:00.000Z");
const DAY = 86_400_000;
const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY);

describe("the alert on silence", () => {
  it("the alert does not start for a type without a handler, nor while its source's signatures fail", () =>
    withStore("sqlite", async ({ alerts }) => {
      for (let days = 20; days >= 8; days -= 1) {
        for (const source of ["platform", "failing"]) {
          for (const eventType of ["handled", "removed"]) {
            await alerts.addArrivals(daysAgo(days), [{ source, eventType, count: 5 }]);
          }
        }
      }
      const opened = { since: daysAgo(8), notifiedCount: 0, notifiedAt: daysAgo(8), from: 0, isOpen: true };
      await alerts.change({ kind: "signatures", source: "failing", subject: "", ...opened });
      const dependencies = {
        store: alerts,
        kinds: new Set(["silence"] as const),
        silenceFloor: 20,
        isHandled: (type: string) => type === "handled",
        clock: { now: () => NOW },
        log: recordedLog(),
      };
      await evaluateAlerts(dependencies, "silence", NOW, daysAgo(30));
      const silent = (await alerts.list()).filter(({ kind }) => kind === "silence");
      expect(silent.map(({ source, subject }) => [source, subject])).toEqual([["platform", "handled"]]);
    }));
});
