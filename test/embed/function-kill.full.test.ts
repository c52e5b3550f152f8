import { describe, expect, it } from "vitest";
import { runChild } from "../support/child.ts";
import { type Dialect, withDatabase } from "../support/databases.ts";
import { countOf, rowsOf } from "../support/effects.ts";
import type { FunctionMode } from "../support/functions.ts";
import type { Target } from "../support/open-target.ts";
import { until } from "../support/until.ts";

const CHILD = "test/support/function-child.ts";
/** First the one whose lease of a prepare step is waited for. */
const STATUSES: Record<FunctionMode, number> = { within: 200, after: 200, failing: 500, rejected: 200, refused: 401 };

/** Sends a callback to a function, which is killed with SIGKILL once it has answered. */
async function killedAfter(mode: FunctionMode, { url }: Target): Promise<number> {
  const { stdout, stderr, signal } = await runChild(CHILD, [url, mode]);
  expect({ mode, stderr, signal }).toEqual({ mode, stderr: "", signal: "SIGKILL" });
  return JSON.parse(stdout).status;
}

/**
 * Retries of a second, and the leases that the killed functions held: of a run, which on SQLite the next opening ends, and
 * of a prepare step, whose outside work might go on for as long.
 */
async function allDue(target: Target): Promise<void> {
  const now = target.dialect === "postgres" ? "now()" : "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";
  await until(async () => {
    const later = await countOf(target, "oncehook_failures", `next_attempt_at > ${now} OR leased_until > ${now}`);
    return later + (await countOf(target, "oncehook_preparations", `leased_until > ${now}`)) === 0;
  });
}

describe.each<Dialect>(["sqlite", "postgres"])("a function that is killed after each answer, on %s", (dialect) => {
  it(
    "a new process completes all with one call of work(), and the callback log has what flush() covered",
    () =>
      withDatabase(dialect, async (target) => {
        const seen: Record<string, number> = {};
        for (const mode of Object.keys(STATUSES) as FunctionMode[]) seen[mode] = await killedAfter(mode, target);
        expect(seen).toEqual(STATUSES);
        await allDue(target);
        const { stdout, stderr } = await runChild(CHILD, [target.url, "work"]);
        expect([stderr, JSON.parse(stdout)]).toEqual(["", { ran: 3, isDone: true }]);
        const effects = await rowsOf(target, "SELECT event_id FROM effects ORDER BY event_id");
        expect(effects).toEqual([{ event_id: "evt_after" }, { event_id: "evt_failing" }, { event_id: "evt_within" }]);
        // A rejected event is kept for a replay: its next run would be rejected too.
        const kept = await rowsOf(target, "SELECT event_id FROM oncehook_failures");
        expect(kept).toEqual([{ event_id: "evt_rejected" }]);
        const logged = await rowsOf(target, "SELECT response_status FROM oncehook_callbacks ORDER BY id");
        expect(logged.map(({ response_status }) => Number(response_status))).toEqual(Object.values(STATUSES));
      }),
    60_000,
  );
});
