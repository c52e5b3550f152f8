import { startReencryption } from "../credentials/index.ts";
import { createRetentionSweep, startRetentionJob } from "../upkeep/index.ts";
import type { Assembled } from "./assemble.ts";
import { POLL_INTERVALS, type PollIntervals } from "./background-work.ts";
import type { UndoSteps } from "./undo-steps.ts";

/** An SQLite file mostly has one receiver: its retries and deliveries wait for no lease that an ended one left. */
export async function takeStore({ config, services }: Assembled): Promise<void> {
  const { store, clock } = services.receiver;
  await store.settings.noteLongestRun(config.requestTimeoutMs);
  if (store.dialect === "sqlite") await store.leases.expireAll(clock.now());
}

/** Begins the rounds of the pollers and of upkeep. The background work of `assembled` waits for them at its stop. */
export function beginRounds(assembled: Assembled, intervals: PollIntervals, undo: UndoSteps): void {
  const { config, services, background } = assembled;
  const { receiver, configured, learntSecrets } = services;
  const { store, encryptor, log } = receiver;
  const { stops } = background;
  const { secretPollMs, resealPollMs } = { ...POLL_INTERVALS, ...intervals };
  background.start(intervals);
  stops.push(startRetentionJob(retentionSweep(assembled), log));
  const learns = configured.some(({ definition }) => definition.learns);
  if (learns && learntSecrets !== undefined) stops.push(learntSecrets.start(secretPollMs));
  if (config.previousEncryptionKeys.length > 0)
    stops.push(startReencryption(store.encryptedValues, encryptor, log, resealPollMs));
  undo.add("new rounds", background.beginStop);
}

const retentionSweep = ({ config, services, captureBuffer }: Assembled) =>
  createRetentionSweep(services.receiver.store, config.retention, services.receiver, captureBuffer);

/** Resolves with how many events ran, and whether nothing that is due was left when it ended. */
export type RunWhatIsDue = (over: AbortSignal) => Promise<{ readonly ran: number; readonly isDone: boolean }>;

/** A round of everything, for a process that stays only as long as it is called. Retention comes by once an hour. */
export function createOneRound(assembled: Assembled): RunWhatIsDue {
  const { services, background } = assembled;
  const { log } = services.receiver;
  const sweep = retentionSweep(assembled);
  let sweptAt = Number.NEGATIVE_INFINITY;
  return async (over) => {
    const ran = await background.runDue(over);
    if (!over.aborted) await background.runRest(over);
    if (!over.aborted && performance.now() - sweptAt > SWEEP_EVERY_MS) {
      sweptAt = performance.now();
      await sweep(() => over.aborted).catch((err: unknown) => log.warn({ err }, "the retention job failed"));
    }
    return { ran, isDone: !over.aborted };
  };
}

const SWEEP_EVERY_MS = 3_600_000;
