import { expect, it } from "vitest";
import { evaluateAlerts } from "../../src/alerts/evaluate-alerts.ts";
import { keyStamp } from "../../src/configured/database.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { checkDatabase } from "../support/check-database.ts";
import { DIALECTS, openTarget, withDatabase } from "../support/databases.ts";
import { startReceiver, testConfig } from "../support/receiver.ts";

const MINUTE = 60_000;

interface Counts {
  readonly authentic: number;
  readonly refused: number;
}

/** @param before in the day that ended an hour ago @param last in the last hour */
type History = readonly [before: Counts, last: Counts];

const DEAD: History = [
  { authentic: 5_702, refused: 0 },
  { authentic: 0, refused: 137 },
];

const NOT_DEAD: readonly (readonly [string, History])[] = [
  ["one of its callbacks is authentic", [DEAD[0], { authentic: 1, refused: 137 }]],
  ["9 callbacks are refused", [DEAD[0], { authentic: 0, refused: 9 }]],
  ["29 were authentic before", [{ authentic: 29, refused: 0 }, DEAD[1]]],
  ["one in nine was refused before", [{ authentic: 900, refused: 101 }, DEAD[1]]],
];

it.each(DIALECTS)("a source of which all callbacks are refused for an hour is named within a minute: %s", (dialect) =>
  withDatabase(dialect, async (target) => {
    const config = testConfig(target);
    const stamp = { environment: config.environment, keys: keyStamp(config) };
    const { store } = await openTarget(target, { stamp });
    const now = new Date();
    const add = async (source: string, [before, last]: History) => {
      const at = (minutes: number) => new Date(now.getTime() - minutes * MINUTE);
      const count = (outcome: string, number: number) => ({ source, outcome, bucket: 0, count: number });
      const counts = ({ authentic, refused }: Counts) =>
        [count("success", authentic), count("signature_mismatch", refused)].filter((one) => one.count > 0);
      await store.rollups.add(at(120), counts(before));
      await store.rollups.add(at(55), counts(last));
    };
    await add("github", DEAD);
    for (const [index, [, history]] of NOT_DEAD.entries()) await add(`s${index}`, history);
    const since = new Date(Math.floor((now.getTime() - 55 * MINUTE) / MINUTE) * MINUTE).toISOString().slice(11, 16);
    const message =
      `github: 0 of 137 callbacks authentic since ${since} UTC, in the day before that 5702 of 5702: ` +
      "compare its secret with the platform's";
    expect(await store.alerts.refusedSources(now)).toEqual([{ source: "github", message }]);

    const deps = { store: store.alerts, kinds: new Set(["signatures"] as const), isSameQuarter: true };
    const rest = {
      acceptedLimitMs: 1,
      silenceFloor: 1,
      isHandled: () => true,
      clock: { now: () => now },
      log: recordedLog(),
    };
    await evaluateAlerts({ ...deps, ...rest }, "signatures", now, now);
    await evaluateAlerts({ ...deps, ...rest }, "signatures", now, now);
    expect((await store.alerts.list()).map(({ source, number, isOpen }) => [source, number, isOpen])).toEqual([
      ["github", 1, true],
    ]);
    await store.close();
    const receiver = await startReceiver(target, { clock: { now: () => now } });
    const overview = await receiver.admin("/api/v1/overview");
    expect(JSON.stringify(overview)).toContain(message);
    await receiver.stop();
    const findings = await checkDatabase(testConfig(target), [], now);
    expect(findings.filter(({ check }) => check === "refused")).toEqual([
      { level: "warning", check: "refused", message },
    ]);
  }),
);
