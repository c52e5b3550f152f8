import type { Config } from "../config/index.ts";
import { startReencryption } from "../credentials/index.ts";
import { callOnce } from "../domain/index.ts";
import { reloadOnChange } from "../http/index.ts";
import type { Receiver } from "../pipeline/index.ts";
import { startRetentionJob } from "../upkeep/index.ts";
import { type Assembled, type AssembleOptions, assemble } from "./assemble.ts";
import { POLL_INTERVALS, type PollIntervals } from "./background-work.ts";
import { type Listening, listen, tlsPair } from "./listeners.ts";
import { UndoSteps } from "./undo-steps.ts";

export interface StartOptions extends Omit<AssembleOptions, "ownsProcess">, PollIntervals {}

export interface RunningReceiver {
  /** The public listener's address from this machine, without the base path. */
  readonly publicOrigin: string;
  readonly adminOrigin: string;
  /** Resolves, with the reason, when only a new process can go on: then stop this one and end. See `Store.broken`. */
  readonly broken: Promise<Error>;
  /** Drains: accepts nothing new, finishes what it has, closes the store. Callable more than once. */
  stop(): Promise<void>;
}

export interface InspectableReceiver extends RunningReceiver {
  readonly receiver: Receiver;
  /** Does what is due by the clock now, once, and resolves when it has ended: retries, deliveries, tokens. */
  runDue(): Promise<void>;
}

/**
 * Starts a receiver: assembles it, listens, and begins its background work. When a step fails, the ones before it are
 * undone.
 * @throws ConfigError for a file that cannot be used, MigrationError, or StartError
 */
export const start: (config: Config, options: StartOptions) => Promise<RunningReceiver> = startInspectableReceiver;

/** The stack of an error from a handler's helpers must reach the handler: Node keeps only ten frames by default. */
const STACK_FRAMES = 25;

export async function startInspectableReceiver(config: Config, options: StartOptions): Promise<InspectableReceiver> {
  Error.stackTraceLimit = Math.max(Error.stackTraceLimit, STACK_FRAMES);
  const undo = new UndoSteps(options.logger);
  try {
    // Before the database: a certificate that cannot be used leaves no empty file behind.
    const tls = await tlsPair(config);
    const assembled = await assemble(config, { ...options, ownsProcess: true }, undo);
    await takeStore(assembled);
    const listening = await listen(assembled, tls, undo);
    await startBackground(assembled, listening, options, undo);
    const { origins, services, background } = assembled;
    const { receiver } = services;
    return {
      ...{ publicOrigin: origins.public, adminOrigin: origins.admin, broken: receiver.store.broken },
      ...{ receiver, runDue: background.runDue, stop: callOnce(() => undo.run()) },
    };
  } catch (error) {
    await undo.run();
    throw error;
  }
}

/** An SQLite file mostly has one receiver: its retries and deliveries wait for no lease that an ended one left. */
async function takeStore({ config, services }: Assembled): Promise<void> {
  const { store, clock } = services.receiver;
  await store.settings.noteLongestRun(config.requestTimeoutMs);
  if (store.dialect === "sqlite") await store.leases.expireAll(clock.now());
}

/** Begins the rounds of the pollers and of upkeep; from here on the receiver says that it serves. */
async function startBackground(assembled: Assembled, listening: Listening, intervals: PollIntervals, undo: UndoSteps) {
  const { config, services, captureBuffer, background } = assembled;
  const { server, tls, health } = listening;
  const { receiver, configured, learntSecrets } = services;
  const { store, encryptor, log } = receiver;
  await store.settings.noteBaseUrl(config.baseUrl);
  const { stops } = background;
  const { secretPollMs, resealPollMs } = { ...POLL_INTERVALS, ...intervals };
  background.start(intervals);
  stops.push(startRetentionJob(store, config.retention, receiver, captureBuffer));
  const learns = configured.some(({ definition }) => definition.learns);
  if (learns && learntSecrets !== undefined) stops.push(learntSecrets.start(secretPollMs));
  if (config.previousEncryptionKeys.length > 0)
    stops.push(startReencryption(store.encryptedValues, encryptor, log, resealPollMs));
  if (tls !== null) stops.push(reloadOnChange(tls, server, log));
  health.isServing = true;
  undo.add("new rounds", () => {
    health.isServing = false;
    background.beginStop();
  });
}
