import { DryRun, type Receiver, runEvent } from "../pipeline/index.ts";
import type { BackfillTarget } from "./backfill-events.ts";

/** Runs an event in a transaction that is rolled back. @returns why it would fail */
export async function runSample({ key, ...event }: BackfillTarget, receiver: Receiver): Promise<string | undefined> {
  const { content, version, eventType, receivedAt: keptAt } = event;
  const deadline = performance.now() + receiver.settings.handlerTimeoutMs;
  // A record, such as the one of its storing, would make it a duplicate.
  const sampled = { content, version, eventType, keptAt, key: { ...key, eventId: `dry run of ${key.eventId}` } };
  const how = { kind: "replay", mode: "dry-run", dryRun: new DryRun(), deadline } as const;
  const outcome = await runEvent({ ...sampled, ...how }, receiver);
  if (outcome.kind === "refused") return outcome.message ?? outcome.code;
  return outcome.kind === "failed" ? receiver.describeError(outcome.cause).split("\n")[0] : undefined;
}
