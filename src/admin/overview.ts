import { quantileOf, SPANS, type Span, slotOf } from "../domain/index.ts";
import type { RollupSlot } from "../store/index.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { type Concerns, needsAPerson } from "./needs-a-person.ts";
import type { OverviewView } from "./overview-shapes.ts";

type Standing = Pick<AdminDeps, "store" | "sources">;

/** What happened in a span until now, period by period, and how things stand. */
export async function overviewOf(span: Span, deps: Standing, now: Date): Promise<OverviewView> {
  const { store } = deps;
  const { stepSeconds, steps } = SPANS[span];
  const first = slotOf(now, stepSeconds) - (steps - 1) * stepSeconds;
  const rows = await store.rollups.list(span, first);
  const bySlot = Map.groupBy(rows, ({ slot }) => slot);
  const concerns = await concernsOf(deps);
  const { failures, notifications, alerts } = concerns;
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
    needs_a_person: needsAPerson(concerns, now),
  };
}

async function concernsOf({ store, sources }: Standing): Promise<Concerns> {
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
  return { outcomes, p50_ms: quantileOf(rows, 0.5), p99_ms: quantileOf(rows, 0.99) };
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}
