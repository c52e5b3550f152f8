import type { FastifyInstance } from "fastify";
import { z } from "zod";
import {
  DAY_MS,
  latencyQuantile,
  OVERVIEW_RANGES,
  type OverviewRange,
  periodStart,
  type RefusedSource,
} from "../domain/index.ts";
import type { RollupSlot, StoredCredentialUse } from "../store/index.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { operation } from "./operation.ts";
import type { OverviewView } from "./page-schemas.ts";

const OVERVIEW = operation({
  summary: "Outcomes, latency, and what needs attention",
  querystring: { span: z.enum(["hour", "day", "month"]).default("hour") },
  responses: { 200: ["The overview.", "Overview"] },
});

export function registerOverview(app: FastifyInstance, deps: AdminDependencies): void {
  app.get("/api/v1/overview", OVERVIEW, async ({ query: { span } }) => {
    // The counts include the responses of this process up to now; those of others are some seconds behind.
    await deps.flushRollups();
    return readOverview(span, deps, deps.clock.now());
  });
}

async function readOverview(
  span: OverviewRange,
  { store, sources }: AdminDependencies,
  now: Date,
): Promise<OverviewView> {
  const { stepSeconds, steps } = OVERVIEW_RANGES[span];
  const first = periodStart(now, stepSeconds) - (steps - 1) * stepSeconds;
  const rows = await store.rollups.list(span, first);
  const bySlot = Map.groupBy(rows, ({ slot }) => slot);
  const alerts = (await store.alerts.list()).filter(({ isOpen }) => isOpen);
  const failures = await store.failures.counts();
  const { waiting, dead } = await store.outbox.counts();
  const uses = await sources.secretUses();
  return {
    span,
    from: isoTime(first),
    to: now.toISOString(),
    step_seconds: stepSeconds,
    buckets: Array.from({ length: steps }, (_, index) => {
      const slot = first + index * stepSeconds;
      return { at: isoTime(slot), ...summed(bySlot.get(slot) ?? []) };
    }),
    totals: summed(rows),
    failures: {
      ...failures,
      oldest_accepted_at: await store.failures.oldestAccepted(),
      next_attempt_at: await store.failures.nextAttemptAt(),
    },
    notifications: { waiting, dead },
    alerts: alerts.map(({ kind, source, subject, since }) => {
      return { kind, source, subject, since: since.toISOString() };
    }),
    needs_attention: needsAttention(await store.alerts.refusedSources(now), {
      alerts: alerts.length,
      ...failures,
      dead,
      previous: uses.filter((one) => isPreviousInUse(one, now)).length,
    }),
  };
}

function summed(rows: readonly RollupSlot[]): OverviewView["totals"] {
  const outcomes: Record<string, number> = {};
  for (const { outcome, count } of rows) outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
  return { outcomes, p50_ms: latencyQuantile(rows, 0.5), p99_ms: latencyQuantile(rows, 0.99) };
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

/** The problems that do not resolve by themselves, the most urgent first. */
function needsAttention(
  refusedSources: readonly RefusedSource[],
  count: Readonly<Record<"alerts" | "exhausted" | "rejected" | "dead" | "previous", number>>,
): OverviewView["needs_attention"] {
  const alerts = counted(count.alerts, "alert is", "alerts are");
  const exhausted = counted(count.exhausted, "event has", "events have");
  const rejected = counted(count.rejected, "event was", "events were");
  const dead = counted(count.dead, "delivery", "deliveries");
  const previous = counted(count.previous, "previous secret", "previous secrets");
  const lines = [
    ["open_alert", count.alerts, `${alerts} open.`],
    ["exhausted_failures", count.exhausted, `${exhausted} failed at every attempt: replay or discard.`],
    [
      "rejected_failures",
      count.rejected,
      `${rejected} rejected by schema, handler or contract: mend the cause and replay, or discard.`,
    ],
    ["dead_notifications", count.dead, `${dead} of notifications could not be made: replay or discard.`],
    [
      "previous_secret_in_use",
      count.previous,
      `Callbacks of the last day came with ${previous}: the platform does not have the new one yet.`,
    ],
  ] as const;
  return [
    ...refusedSources.map(({ message }) => ({ kind: "refused_source", count: 1, message })),
    ...lines.map(([kind, count, message]) => ({ kind, count, message })).filter(({ count }) => count > 0),
  ];
}

function isPreviousInUse({ previousSince, lastUsedAt }: StoredCredentialUse, now: Date): boolean {
  if (previousSince === null || lastUsedAt === null) return false;
  return lastUsedAt > previousSince && now.getTime() - Date.parse(lastUsedAt) < DAY_MS;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
