import type { AttemptOutcome, JsonObject } from "../domain/index.ts";
import { shownStatements } from "../observability/index.ts";
import type { DryRun } from "../pipeline/index.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import type { ReplayView } from "./schemas.ts";

type Masks = Pick<AdminDependencies, "mask" | "describeError">;

export function presentOutcome(outcome: AttemptOutcome, { describeError, mask }: Masks) {
  switch (outcome.kind) {
    case "success":
      return { outcome: outcome.kind, result: mask.json(outcome.result) as JsonObject };
    case "already_processed":
      return { outcome: outcome.kind };
    case "refused":
      return { outcome: outcome.code, error: describeError(outcome.detail ?? outcome.message) };
    case "failed":
      return { outcome: outcome.code, error: describeError(outcome.cause) };
  }
}

export function presentDryRun(outcome: AttemptOutcome, dryRun: DryRun, masks: Masks): ReplayView {
  const { mask } = masks;
  return {
    ...presentOutcome(outcome, masks),
    dry_run: true,
    statements: shownStatements(dryRun, mask),
    statements_omitted: dryRun.statementsOmitted,
    connection_used: dryRun.isConnectionUsed,
    deferred_keys_unchecked: dryRun.hasUncheckedKeys,
    notifications: dryRun.notifications.map(({ topic, payload }) => {
      return { topic, payload: mask.json(payload) as JsonObject };
    }),
    notifications_omitted: dryRun.notificationsOmitted,
  };
}
