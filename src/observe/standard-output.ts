import { type DestinationStream, pino } from "pino";
import { createMinuteTally } from "./minute-tally.ts";

/** A pipe whose other end does not read must not cost us all memory. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024;

export interface LogDestination extends DestinationStream {
  /** Calls back when all that was written so far is out, or could not be. */
  flush(done: (error?: Error | null) => void): void;
}

/**
 * Standard output, written to without blocking. The lines of one turn of the event loop go out together: the writer
 * behind it makes one write a turn, of 16 KiB at most unless it is handed more at once, and would fall behind for ever.
 */
export function standardOutput(fd = 1, mostWaitingBytes = MOST_WAITING_BYTES): LogDestination {
  // With a least length of 0 the destination would take a flush for done while lines are still being written.
  const out = pino.destination({ fd, sync: false, minLength: 1, maxLength: mostWaitingBytes });
  let lines: string[] = [];

  function passOn(): void {
    if (lines.length === 0) return;
    const text = lines.join("");
    lines = [];
    out.write(text);
  }

  const leftOut = createMinuteTally((count) => {
    const line = { level: 40, time: new Date().toISOString(), left_out: count, msg: LEFT_OUT };
    out.write(`${JSON.stringify(line)}\n`);
  });
  out.on("drop", (text: string) => {
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) leftOut.add();
  });

  // No further turn comes then: what a process says as it dies says why.
  process.on("exit", () => {
    passOn();
    out.flushSync();
  });

  return {
    write(line) {
      if (lines.push(line) === 1) setImmediate(passOn);
    },
    flush(done) {
      passOn();
      leftOut.close();
      out.flush(done);
    },
  };
}

const LEFT_OUT = "lines were left out of the log: standard output did not take them in time";
