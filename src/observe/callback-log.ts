import { atMost, type CallbackLogRow, type Clock, type Diagnosis, type Log } from "../domain/index.ts";
import type { TraceIds } from "../trace/index.ts";
import { type WriteLine, writeLogLine } from "./log-line.ts";
import type { Metrics } from "./metrics.ts";
import { createMinuteTally, type MinuteTally } from "./minute-tally.ts";
import { createRowBuffer } from "./row-buffer.ts";

export interface CallbackLogOptions {
  /** Stores rows, all of them or none. */
  readonly append: (rows: readonly CallbackLogRow[]) => Promise<void>;
  readonly logger: Log;
  readonly write: WriteLine;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, "logRowsDropped">;
  readonly bounds?: Partial<Bounds>;
}

interface Bounds {
  /** How many refused requests a minute are logged; the rest is only counted. */
  readonly rejectedPerMinute: number;
  /** How many rows may wait for the database. */
  readonly waiting: number;
}

/** The callback log (SPEC 1.8): a line on standard output for each callback, and a row in the store. */
export interface CallbackLog {
  /** @param trace of the callback, where it is traced */
  line(row: CallbackLogRow, trace?: TraceIds): void;
  /**
   * A row that does not commit with an event's own transaction; it is stored with others shortly after.
   * @param diagnosis which the row will have once it is known; never rejects
   */
  add(row: CallbackLogRow, diagnosis?: Promise<Diagnosis | undefined>): void;
  /** Asked before a refused request is masked and logged, so that a flood of garbage costs next to nothing. */
  admitRejected(now: Date): boolean;
  /** Resolves when every row added so far is stored, or could not be; never rejects. */
  flush(): Promise<void>;
  /** Flushes, tells what was left out and stops the timers. */
  close(): Promise<void>;
}

const MINUTE_MS = 60_000;

export function createCallbackLog(options: CallbackLogOptions): CallbackLog {
  const { append, logger, write, clock, metrics } = options;
  const { rejectedPerMinute = 600, waiting = 10_000 } = options.bounds ?? {};
  const refused = createMinuteTally((count) =>
    logger.warn(
      { left_out: count },
      "refused callbacks were counted but not logged: more than the bound in a minute",
    ),
  );
  const full = createMinuteTally((count) =>
    logger.warn(
      { left_out: count },
      "callbacks have a line but no row in the callback log: too many wait for the database",
    ),
  );
  const failed = sparingWarning(logger, clock);
  const diagnosing = createDiagnosedRows();
  const buffer = createRowBuffer({
    async append(rows: readonly CallbackLogRow[]) {
      await diagnosing.ended();
      await append(rows);
    },
    most: waiting,
    lengthOf,
    failed,
  });
  const admit = atMost(rejectedPerMinute, MINUTE_MS);

  function leftOut(tally: MinuteTally, reason: "rejected_bound" | "buffer_full"): void {
    metrics.logRowsDropped(reason, 1);
    tally.add();
  }

  return {
    line: (row, trace) => writeLogLine(write, row, trace),
    add(row, diagnosis) {
      const kept = diagnosis === undefined ? row : diagnosing.rowWith(row, diagnosis);
      if (!buffer.add(kept)) leftOut(full, "buffer_full");
    },
    admitRejected(now) {
      const isAdmitted = admit(now);
      if (!isAdmitted) leftOut(refused, "rejected_bound");
      return isAdmitted;
    },
    flush: buffer.flush,
    async close() {
      const rows = await buffer.close();
      refused.close();
      full.close();
      if (rows > 0)
        logger.error({ rows }, "rows of the callback log are lost: the database did not take them");
    },
  };
}

/** Rows take their place at once, in the order in which they came; what is found out later is put into them there. */
function createDiagnosedRows() {
  const unfinished = new Set<Promise<void>>();
  return {
    rowWith(row: CallbackLogRow, diagnosis: Promise<Diagnosis | undefined>): CallbackLogRow {
      const kept: CallbackLogRow & { diagnosis?: Diagnosis } = { ...row };
      const put = diagnosis.then((found) => {
        if (found !== undefined) kept.diagnosis = found;
        unfinished.delete(put);
      });
      unfinished.add(put);
      return kept;
    },
    ended: () => Promise.all(unfinished),
  };
}

function lengthOf(row: CallbackLogRow): number {
  const { url, requestHeaders, requestBody, responseBody, error } = row;
  return url.length + requestHeaders.length + requestBody.length + responseBody.length + (error?.length ?? 0);
}

/** A database that is away fails every second; saying so once a minute is enough. */
function sparingWarning(logger: Log, clock: Clock): (error: unknown, rows: number) => void {
  const mayWarn = atMost(1, MINUTE_MS);
  return (error, rows) => {
    if (!mayWarn(clock.now())) return;
    logger.warn({ err: error, rows }, "the callback log could not be stored; it is kept and tried again");
  };
}
