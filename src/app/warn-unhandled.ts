import type { Log, Version } from "../domain/index.ts";
import type { Registry } from "../handlers/index.ts";
import type { FailureStore } from "../store/index.ts";

/**
 * Names the types of waiting events that nobody here can handle: a handler that was taken away, or another
 * configuration than the one that accepted them. They wait, and would otherwise do so in silence.
 */
export async function warnUnhandled(failures: FailureStore, registry: Registry, log: Log): Promise<void> {
  try {
    const waiting = await failures.waitingTypes();
    const types = waiting
      .filter(({ version, eventType }) => registry.find(version as Version, eventType) === undefined)
      .map(({ eventType, version, count }) => `${eventType} (${version}): ${count}`);
    if (types.length > 0) {
      log.warn(
        { types },
        "events wait for a retry, and there is no handler for their types; they go on waiting: configure the " +
          "handlers (HANDLERS, oncehook.config.ts), or discard the events",
      );
    }
  } catch (error) {
    log.warn({ err: error }, "the types of waiting events could not be looked up");
  }
}
