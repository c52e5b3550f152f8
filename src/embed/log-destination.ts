import type { Log } from "../domain/index.ts";

const LEVELS = { 20: "debug", 30: "info", 40: "warn", 50: "error", 60: "error" } as const;

interface Line {
  readonly level: keyof typeof LEVELS;
  readonly time: string;
  readonly msg: string;
}

/**
 * The end of a receiver's log. Its lines are masked JSON texts; a logger of the application gets fields and message.
 * Nothing waits in a buffer of its own, so that nothing has to be written when the process ends.
 */
export function logDestination(logger: Log | undefined): { write(line: string): void } {
  if (logger === undefined) return { write: (line) => void process.stdout.write(line) };
  return {
    write(line) {
      const { level, time: _time, msg, ...fields } = JSON.parse(line) as Line;
      logger[LEVELS[level] ?? "debug"](fields, msg);
    },
  };
}
