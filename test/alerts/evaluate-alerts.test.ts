import { describe, expect, it } from "vitest";
import { evaluateAlerts } from "../../src/alerts/evaluate-alerts.ts";
import type { AlertKind } from "../../src/store/index.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { withStore } from "../support/databases.ts";

const NOW = new Date("2026-03-04T12:00:00.000Z");
const DAY = 86_400_000;
const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY);

/** The silent types that start an alert, where the signatures of the source `failing` fail. */
function silentWith(...kinds: AlertKind[]): Promise<string[]> {
  return withStore("sqlite", async ({ alerts }) => {
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
      refusedSources: { list: async () => [] },
      kinds: new Set(kinds),
      acceptedLimitMs: 300_000,
      silenceFloor: 20,
      isHandled: (type: string) => type === "handled",
      clock: { now: () => NOW },
      log: recordedLog(),
    };
    await evaluateAlerts(dependencies, "silence", NOW, daysAgo(30));
    const silent = (await alerts.list()).filter(({ kind }) => kind === "silence");
    return silent.map(({ source, subject }) => `${source} ${subject}`);
  });
}

describe("the alert on silence", () => {
  it("the alert does not start for a type without a handler, nor while its source's signatures fail", async () => {
    expect(await silentWith("signatures", "silence")).toEqual(["platform handled"]);
  });

  it("an alert on signatures that is not evaluated any more does not suppress the alert on silence", async () => {
    expect((await silentWith("silence")).toSorted()).toEqual(["failing handled", "platform handled"]);
  });
});
