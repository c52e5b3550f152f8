import type { DiagLogger } from "@opentelemetry/api";
import type { Log } from "../../domain/index.ts";

const MINUTE_MS = 60_000;

/** What OpenTelemetry has to say goes into the log. A collector that is away fails every batch, so once a minute is enough. */
export function createDiagnostics(
  log: Log,
  describe: (error: unknown) => string,
): { logger: DiagLogger; failed(error: unknown): void } {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let leftOut = 0;

  function warn(said: unknown, message: string): void {
    const now = performance.now();
    if (now < quietUntil) {
      leftOut += 1;
      return;
    }
    log.warn({ said: describe(said), left_out: leftOut }, message);
    quietUntil = now + MINUTE_MS;
    leftOut = 0;
  }

  const tell = (message: string) => warn(message, "OpenTelemetry warns");
  const note = (message: string) => log.debug({ said: describe(message) }, "OpenTelemetry notes");
  return {
    failed: (error) => warn(error, "traces could not be exported"),
    logger: { error: tell, warn: tell, info: note, debug: () => {}, verbose: () => {} },
  };
}
