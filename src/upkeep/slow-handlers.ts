import { type Clock, DAY_MS, type EventKey, type Log, sourceOf } from "../domain/index.ts";
import type { SlowHandler, Store } from "../store/index.ts";

/** A third of the shortest deadline that platforms document (Slack, 3 s). */
const SLOW_MS = 1_000;
/** A further run is reported only where it is so much slower than the slowest one before. */
const GROWTH = 1.5;

/**
 * On SQLite a handler holds the only writer while it waits for something. Meanwhile no event can be accepted either.
 * Its slowest run is logged, and stored for the next start and for doctor.
 */
export function createSlowHandlerReport(
  { dialect, settings }: Pick<Store, "dialect" | "settings">,
  clock: Clock,
  log: Log,
) {
  const slowest = new Map<string, number>();
  return (key: EventKey, type: string, durationMs: number): void => {
    if (dialect !== "sqlite" || durationMs < SLOW_MS) return;
    const name = `${sourceOf(key)} ${type}`;
    if (durationMs < (slowest.get(name) ?? 0) * GROWTH) return;
    slowest.set(name, durationMs);
    const handler: SlowHandler = { name, durationMs: Math.round(durationMs), at: clock.now().toISOString() };
    log.warn({ handler: name, duration_ms: handler.durationMs }, slowHandlerText(handler));
    settings
      .noteSlowHandler(handler)
      .catch((err: unknown) => log.warn({ err, handler: name }, "a slow handler could not be noted"));
  };
}

/** Their warnings, for the start and for doctor; a run of long ago tells nothing of the handler of today. */
export function slowHandlerTexts(handlers: readonly SlowHandler[], now: Date): string[] {
  const since = new Date(now.getTime() - 7 * DAY_MS).toISOString();
  return handlers.filter(({ at }) => at > since).map(slowHandlerText);
}

function slowHandlerText({ name, durationMs, at }: SlowHandler): string {
  return (
    `the handler of ${name} held SQLite's only writer for ${durationMs} ms at ${at}: meanwhile no other event was run ` +
    "or accepted, so answer modes `within` and `after` respond late. Move calls to other systems into `prepare`, or " +
    "use PostgreSQL (docs/handlers.md)"
  );
}
