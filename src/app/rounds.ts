import { reencryptAll, startReencryption } from "../credentials/index.ts";
import { createRetentionSweep, startRetentionJob } from "../upkeep/index.ts";
import type { Assembled } from "./assemble.ts";
import { POLL_INTERVALS, type PollIntervals } from "./background-work.ts";
import type { UndoSteps } from "./undo-steps.ts";

/** For what several receivers of a database need to know of one another, before the first round. */
export async function takeStore({ config, services }: Assembled): Promise<void> {
  const { store, clock } = services.receiver;
  await store.settings.noteLongestRun(config.requestTimeoutMs);
  await store.endStaleLeases(clock.now());
}

/** Begins the rounds of the pollers and of upkeep. The background work of `assembled` waits for them at its stop. */
export function beginRounds(assembled: Assembled, intervals: PollIntervals, undo: UndoSteps): void {
  const { config, services, background } = assembled;
  const { receiver, configured, learntSecrets } = services;
  const { store, encryptor, log } = receiver;
  const { secretPollMs, resealPollMs } = { ...POLL_INTERVALS, ...intervals };
  background.start(intervals);
  background.add("retention", startRetentionJob(retentionSweep(assembled), log));
  const learns = configured.some(({ definition }) => definition.learns);
  if (learns && learntSecrets !== undefined) background.stops.push(learntSecrets.start(secretPollMs));
  if (config.previousEncryptionKeys.length > 0)
    background.add("reencryption", startReencryption(store.encryptedValues, encryptor, log, resealPollMs));
  undo.add("new rounds", background.beginStop);
}

const retentionSweep = ({ config, services, captureBuffer }: Assembled) =>
  createRetentionSweep(services.receiver.store, config.retention, services.receiver, captureBuffer);

/** Resolves with how many events ran, and whether nothing that is due was left when it ended. */
export type RunWhatIsDue = (signal: AbortSignal) => Promise<{ readonly ran: number; readonly isDone: boolean }>;

/** A round of everything, for a process that stays only as long as it is called. Upkeep comes by once an hour. */
export function createOneRound(assembled: Assembled): RunWhatIsDue {
  const { background } = assembled;
  const keepUp = createUpkeep(assembled);
  let keptUpAt = Number.NEGATIVE_INFINITY;
  return async (signal) => {
    let ran = await background.runDue(signal);
    if (!signal.aborted) await background.runRest(signal);
    // A reconciliation may have accepted events that never arrived.
    if (!signal.aborted) ran += await background.runDue(signal);
    if (!signal.aborted && performance.now() - keptUpAt > UPKEEP_EVERY_MS) {
      keptUpAt = performance.now();
      await keepUp(() => signal.aborted);
    }
    return { ran, isDone: !signal.aborted };
  };
}

const UPKEEP_EVERY_MS = 3_600_000;

/** Retention, and values that an earlier key has encrypted. */
function createUpkeep(assembled: Assembled) {
  const { config, services } = assembled;
  const { store, encryptor, log } = services.receiver;
  const sweep = retentionSweep(assembled);
  return async (isOver: () => boolean): Promise<void> => {
    await sweep(isOver).catch((err: unknown) => log.warn({ err }, "the retention job failed"));
    if (config.previousEncryptionKeys.length === 0 || isOver()) return;
    await reencryptAll(store.encryptedValues, encryptor, isOver).catch((err: unknown) =>
      log.warn({ err }, "values of an earlier ENCRYPTION_KEY could not be encrypted again"),
    );
  };
}
