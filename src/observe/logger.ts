import { type DestinationStream, type Logger, pino, stdSerializers } from "pino";
import type { Mask } from "./mask.ts";

export type { Logger } from "pino";

export interface LoggerOptions {
  readonly level: string;
  readonly mask: Mask;
  /** Standard output unless a test gives another stream. */
  readonly destination?: DestinationStream;
}

/** The service's log: JSON lines, written without blocking the process, secrets in errors masked. */
export function createLogger({ level, mask, destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: {
      err(error: unknown) {
        if (!(error instanceof Error)) return mask.text(String(error));
        const { type, message, stack } = stdSerializers.errWithCause(error);
        return { type, message: mask.text(message), stack: mask.text(stack) };
      },
    },
  };
  return pino(options, destination ?? pino.destination({ fd: 1, sync: false }));
}

/** Writes what still waits, before the process exits. */
export function closeLogger(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    logger.flush(() => resolve());
  });
}
