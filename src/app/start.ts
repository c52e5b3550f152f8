import type { Config } from "../config/index.ts";
import { callOnce } from "../domain/index.ts";
import { reloadOnChange } from "../http/index.ts";
import type { Receiver } from "../pipeline/index.ts";
import { type AssembleOptions, assemble } from "./assemble.ts";
import type { PollIntervals } from "./background-work.ts";
import { listen, tlsPair } from "./listeners.ts";
import { beginRounds, takeStore } from "./rounds.ts";
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
  runDue(): Promise<unknown>;
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
    const { server, health } = await listen(assembled, tls, undo);
    const { origins, services, background } = assembled;
    const { receiver } = services;
    await receiver.store.settings.noteBaseUrl(config.baseUrl);
    beginRounds(assembled, options, undo);
    if (tls !== null) background.stops.push(reloadOnChange(tls, server, receiver.log));
    health.isServing = true;
    undo.add("health", () => {
      health.isServing = false;
    });
    return {
      ...{ publicOrigin: origins.public, adminOrigin: origins.admin, broken: receiver.store.broken },
      ...{ receiver, runDue: background.runDue, stop: callOnce(() => undo.run()) },
    };
  } catch (error) {
    await undo.run();
    throw error;
  }
}
