import type { FastifyInstance } from "fastify";
import type { OverviewRange } from "../domain/index.ts";
import { latencyQuantile, OVERVIEW_RANGES, periodStart } from "../domain/index.ts";
import type { RollupSlot, StoredAlert, StoredCredentialUse } from "../store/index.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { operation } from "./operation.ts";
import type { OverviewView } from "./page-schemas.ts";

const OVERVIEW = operation({
  summary: "Outcomes, latency, and what needs attention",
  querystring: {
    type: "object",
    properties: { span: { type: "string", enum: ["hour", "day", "month"], default: "hour" } },
    additionalProperties: false,
  },
  responses: { 200: { description: "The overview.", content: "Overview" } },
});

/** `GET /api/v1/overview`. */
export function registerOverview(app: FastifyInstance, deps: AdminDependencies): void {
  app.get<{ Querystring: { span: OverviewRange } }>(
    "/api/v1/overview",
    { schema: OVERVIEW },
    async ({ query: { span } }) => {
      // What this process has answered is in it; the counts of others are some seconds behind.
      await deps.flushRollups();
      return readOverview(span, deps, deps.clock.now());
    },
  );
}

type OverviewDependencies = Pick<AdminDependencies, "store" | "sources">;

/** What happened in a span until now, period by period, and how things stand. */
async function readOverview(
  span: OverviewRange,
  deps: OverviewDependencies,
  now: Date,
): Promise<OverviewView> {
  const { store } = deps;
  const { stepSeconds, steps } = OVERVIEW_RANGES[span];
  const first = periodStart(now, stepSeconds) - (steps - 1) * stepSeconds;
  const rows = await store.rollups.list(span, first);
  const bySlot = Map.groupBy(rows, ({ slot }) => slot);
  const state = await readState(deps);
  const { failures, notifications, alerts } = state;
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
    failures: { ...failures, next_attempt_at: await store.failures.nextAttemptAt() },
    notifications: { waiting: notifications.waiting, dead: notifications.dead },
    alerts: alerts.map(({ kind, source, subject, since }) => ({
      kind,
      source,
      subject,
      since: since.toISOString(),
    })),
    needs_attention: needsAttention(state, now),
  };
}

async function readState({ store, sources }: OverviewDependencies): Promise<ReceiverState> {
  const alerts = await store.alerts.list();
  return {
    failures: await store.failures.counts(),
    notifications: await store.outbox.counts(),
    alerts: alerts.filter(({ isOpen }) => isOpen),
    credentials: await sources.secretUses(),
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

/** How things stand. */
interface ReceiverState {
  readonly failures: Readonly<Record<"waiting" | "exhausted", number>>;
  readonly notifications: Readonly<Record<"waiting" | "dead", number>>;
  /** The open ones. */
  readonly alerts: readonly StoredAlert[];
  readonly credentials: readonly StoredCredentialUse[];
}

const DAY_MS = 86_400_000;

/** What will not get well by itself, the most urgent first. */
function needsAttention(
  { failures, notifications, alerts, credentials }: ReceiverState,
  now: Date,
): OverviewView["needs_attention"] {
  const previous = credentials.filter((one) => isPreviousInUse(one, now)).length;
  const found = [
    {
      kind: "open_alert",
      count: alerts.length,
      message: `${counted(alerts.length, "alert is", "alerts are")} open.`,
    },
    {
      kind: "exhausted_failures",
      count: failures.exhausted,
      message: `${counted(failures.exhausted, "event has", "events have")} failed at every attempt: replay or discard.`,
    },
    {
      kind: "dead_notifications",
      count: notifications.dead,
      message: `${counted(notifications.dead, "delivery", "deliveries")} of notifications could not be made: replay or discard.`,
    },
    {
      kind: "previous_secret_in_use",
      count: previous,
      message: `Callbacks of the last day came with ${counted(previous, "previous secret", "previous secrets")}: the platform does not have the new one yet.`,
    },
  ];
  return found.filter(({ count }) => count > 0);
}

function isPreviousInUse({ previousSince, lastUsedAt }: StoredCredentialUse, now: Date): boolean {
  if (previousSince === null || lastUsedAt === null) return false;
  return lastUsedAt > previousSince && now.getTime() - Date.parse(lastUsedAt) < DAY_MS;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
