import { until } from "./until.ts";

/** A process that evaluates a framework and the whole of src/, on a machine with much else to do. */
const LIMIT_MS = 60_000;

/** Waits for an application's process to listen. */
export function listening(origin: string): Promise<void> {
  return until(
    () =>
      fetch(origin).then(
        () => true,
        () => false,
      ),
    LIMIT_MS,
  );
}
