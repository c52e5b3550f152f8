import type { Log } from "../domain/index.ts";

const LEVELS = { 20: "debug", 30: "info", 40: "warn", 50: "error", 60: "error" } as const;

interface Line {
  readonly level: keyof typeof LEVELS;
  readonly time: string;
  readonly msg: string;
}

/**
 * The end of a receiver's log. Its lines are masked JSON texts; a logger of the application gets fields and message. A line
 * at which that logger throws goes to standard output: a callback must not fail for its log.
 * Nothing waits in a buffer of its own, so that nothing has to be written when the process ends.
 */
export function logDestination(logger: Log | undefined): { write(line: string): void } {
  const print = (line: string) => void process.stdout.write(line);
  if (logger === undefined) return { write: print };
  return {
    write(line) {
      const { level, time: _time, msg, ...fields } = JSON.parse(line) as Line;
      try {
        const written: unknown = logger[LEVELS[level] ?? "debug"](fields, msg);
        // Unhandled, its rejection would end the process.
        if (written instanceof Promise) written.catch(() => print(line));
      } catch {
        print(line);
      }
    },
  };
}
