import type { FastifyInstance } from "fastify";
import { z } from "zod";
import {
  countByOutcome,
  DAY_MS,
  isoTimeOf,
  latencyQuantile,
  OVERVIEW_RANGES,
  type OverviewRange,
  type Problem,
  periodStart,
  refusalMessage,
} from "../domain/index.ts";
import type { RollupSlot, StoredCredentialUse } from "../store/index.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { presentAlert } from "./alert-schemas.ts";
import { operation } from "./operation.ts";
import type { OverviewView } from "./page-schemas.ts";
import * as input from "./request-parameters.ts";

const OVERVIEW = operation({
  summary: "Outcomes, latency, and what needs attention",
  querystring: {
    span: z.enum(["hour", "day", "month"]).default("hour"),
    source: input.filterText("Only `buckets` and `totals` of this source; the rest is of all."),
  },
  responses: { 200: ["The overview.", "Overview"] },
});

export function registerOverview(app: FastifyInstance, deps: AdminDependencies): void {
  app.get("/api/v1/overview", OVERVIEW, async ({ query: { span, source } }): Promise<OverviewView> => {
    // The counts include the responses of this process up to now; those of others are some seconds behind.
    await deps.flushRollups();
    return readOverview({ span, source }, deps, deps.clock.now());
  });
}

interface Counted {
  readonly span: OverviewRange;
  /** Undefined for all sources. */
  readonly source: string | undefined;
}

async function readOverview({ span, source }: Counted, { store, sources }: AdminDependencies, now: Date) {
  const { stepSeconds, steps } = OVERVIEW_RANGES[span];
  const first = periodStart(now, stepSeconds) - (steps - 1) * stepSeconds;
  const { rollups } = store;
  const rows = await (source === undefined ? rollups.list(span, first) : rollups.ofSource(span, first, source));
  const bySlot = Map.groupBy(rows, ({ slot }) => slot);
  const stored = (await store.alerts.list()).map((alert) => presentAlert(alert, now));
  const alerts = stored.filter(({ state }) => state !== "resolved");
  const failures = await store.failures.counts();
  const { waiting, dead } = await store.outbox.counts();
  const uses = await sources.secretUses();
  const { problems } = await store.problems.list(now);
  const open = problems.filter(({ state }) => state === "open");
  return {
    span,
    from: isoTimeOf(first),
    to: now.toISOString(),
    step_seconds: stepSeconds,
    buckets: Array.from({ length: steps }, (_, index) => {
      const slot = first + index * stepSeconds;
      return { at: isoTimeOf(slot), ...summed(bySlot.get(slot) ?? []) };
    }),
    totals: summed(rows),
    failures: {
      ...failures,
      oldest_accepted_at: await store.failures.oldestAccepted(),
      next_attempt_at: await store.failures.nextAttemptAt(),
    },
    notifications: { waiting, dead },
    alerts,
    needs_attention: needsAttention(open, {
      open_alert: alerts.filter(({ state }) => state === "open").length,
      exhausted_failures: failures.exhausted,
      rejected_failures: failures.rejected,
      dead_notifications: dead,
      previous_secret_in_use: uses.filter((one) => isPreviousInUse(one, now)).length,
    }),
    problems: {
      open: open.length,
      top: open.slice(0, MOST_SHOWN).map(({ eventType, isAtLeast, hourly, ...problem }) => {
        const { id, kind, source, code, title, count, since, firstSeen } = problem;
        return {
          ...{ id, kind, source, event_type: eventType, code, title, count, since },
          first_seen: firstSeen,
          at_least: isAtLeast,
          hourly: [...hourly],
        };
      }),
    },
  };
}

/** Of the open problems. */
const MOST_SHOWN = 10;

function summed(rows: readonly RollupSlot[]): OverviewView["totals"] {
  return { outcomes: countByOutcome(rows), p50_ms: latencyQuantile(rows, 0.5), p99_ms: latencyQuantile(rows, 0.99) };
}

/** The problems that do not resolve by themselves, the most urgent first: `#` is their number with one of the two nouns. */
const PROBLEMS = {
  open_alert: ["alert is", "alerts are", "# open."],
  exhausted_failures: ["event has", "events have", "# failed at every attempt: replay or discard."],
  rejected_failures: [
    "event was",
    "events were",
    "# rejected by schema, handler or contract: mend the cause and replay, or discard.",
  ],
  dead_notifications: ["delivery", "deliveries", "# of notifications could not be made: replay or discard."],
  previous_secret_in_use: [
    "previous secret",
    "previous secrets",
    "Callbacks of the last day came with #: the platform does not have the new one yet.",
  ],
} as const;

function needsAttention(
  open: readonly Problem[],
  counts: Readonly<Record<keyof typeof PROBLEMS, number>>,
): OverviewView["needs_attention"] {
  const problems = Object.entries(PROBLEMS).map(([kind, [one, many, message]]) => {
    const count = counts[kind as keyof typeof PROBLEMS];
    return { kind, count, message: message.replace("#", `${count} ${count === 1 ? one : many}`) };
  });
  const refused = open
    .filter(({ kind }) => kind === "refusal")
    .map(({ count, title, since, remedy }) => ({
      ...{ kind: "refused_source", count, message: refusalMessage({ title, since, remedy: remedy ?? "" }) },
    }));
  return [...refused, ...problems.filter(({ count }) => count > 0)];
}

function isPreviousInUse({ previousSince, lastUsedAt }: StoredCredentialUse, now: Date): boolean {
  if (previousSince === null || lastUsedAt === null) return false;
  return lastUsedAt > previousSince && now.getTime() - Date.parse(lastUsedAt) < DAY_MS;
}
