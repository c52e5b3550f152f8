import {
  atMost,
  type CallbackLogRow,
  type Clock,
  type Diagnosis,
  type LeftOutReason,
  type Log,
  logRowBytes,
} from "../domain/index.ts";
import type { TraceIds } from "../trace/index.ts";
import { createAfterAnswer } from "./after-answer.ts";
import { createLeftOutLog, type LeftOutCallback } from "./left-out.ts";
import { type WriteLine, writeLogLine } from "./log-line.ts";
import type { Metrics } from "./metrics.ts";
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
  /** How many bytes refused requests may take on standard output in a minute; the lines of further ones are short. */
  readonly outputBytesPerMinute: number;
}

/** What a line of the log is written with, beside the row. */
interface LineOptions {
  /** Of the callback, where it is traced. */
  readonly trace?: TraceIds | undefined;
  /** Whether the request's body was parsed as JSON, so that it may stand in the line as it is. */
  readonly isJson?: boolean;
}

/** A refused request that is logged after its answer. */
export interface RefusedRequest extends LeftOutCallback {
  /** As it arrived; kept until it is masked. */
  readonly body: Uint8Array;
  /** @param sha256 of a long body */
  readonly row: (sha256?: string) => CallbackLogRow;
  readonly trace?: TraceIds | undefined;
  /** Why it was not authentic, once that is known; never rejects. */
  readonly diagnosis?: Promise<Diagnosis | undefined> | undefined;
}

/** The callback log (SPEC 1.8): a line on standard output for each callback, and a row in the store. */
export interface CallbackLog {
  line(row: CallbackLogRow, options?: LineOptions): void;
  /** A row that does not commit with an event's own transaction; it is stored with others shortly after. */
  add(row: CallbackLogRow): void;
  /** Logs a refused request after this turn of the event loop, where `admitRejected` said that it may be. */
  addRefused(request: RefusedRequest): void;
  /** Asked before a refused request is masked and logged, so that a flood of garbage costs next to nothing. */
  admitRejected(request: LeftOutCallback): boolean;
  /** Notes a request that has neither line nor row: what came to no callback address. */
  leaveOut(reason: LeftOutReason, request: LeftOutCallback): void;
  /** Resolves when every row added so far is stored, or could not be; never rejects. */
  flush(): Promise<void>;
  /** Flushes, tells what was left out and stops the timers. */
  close(): Promise<void>;
}

const MINUTE_MS = 60_000;
const OUTPUT_BYTES = 1024 * 1024;

export function createCallbackLog(options: CallbackLogOptions): CallbackLog {
  const { append, logger, write, clock, metrics } = options;
  const bounds = {
    rejectedPerMinute: 600,
    waiting: 10_000,
    outputBytesPerMinute: OUTPUT_BYTES,
    ...options.bounds,
  };
  const failed = sparingWarning(logger, clock);
  const diagnosing = createDiagnosedRows();
  const afterAnswer = createAfterAnswer(logger);
  const buffer = createRowBuffer({
    async append(rows: readonly CallbackLogRow[]) {
      await diagnosing.ended();
      await append(rows);
    },
    most: bounds.waiting,
    lengthOf,
    failed,
  });
  let isClosed = false;
  const leftOut = createLeftOutLog({ clock, log: logger, add: (row) => !isClosed && buffer.add(row) });
  const admit = atMost(bounds.rejectedPerMinute, MINUTE_MS);
  const output = createMinuteBytes(bounds.outputBytesPerMinute);

  function leaveOut(reason: LeftOutReason, callback: LeftOutCallback): void {
    metrics.logRowsDropped(reason, 1);
    leftOut.note(reason, callback);
  }

  function addRow(row: CallbackLogRow): void {
    if (!buffer.add(row)) leaveOut("buffer_full", { ...row, url: () => row.url });
  }

  function writeRefused(row: CallbackLogRow, trace: TraceIds | undefined): void {
    const isShort = !output.take(logRowBytes(row), clock.now());
    if (isShort) leftOut.note("output_bound", { ...row, url: () => row.url });
    writeLogLine(write, row, { trace, isShort });
  }

  return {
    line: (row, { trace, isJson } = {}) => writeLogLine(write, row, { trace, isJson }),
    add: addRow,
    addRefused(request) {
      const { body, row, trace, diagnosis } = request;
      const isAdded = afterAnswer.add(body, (sha256) => {
        const made = row(sha256);
        writeRefused(made, trace);
        addRow(diagnosis === undefined ? made : diagnosing.rowWith(made, diagnosis));
      });
      if (!isAdded) leaveOut("body_bound", request);
    },
    admitRejected(request) {
      const isAdmitted = admit(clock.now());
      if (!isAdmitted) leaveOut("rejected_bound", request);
      return isAdmitted;
    },
    leaveOut,
    async flush() {
      await afterAnswer.done();
      await buffer.flush();
    },
    async close() {
      await afterAnswer.done();
      leftOut.close();
      const rows = await buffer.close();
      isClosed = true;
      if (rows > 0)
        logger.error({ rows }, "rows of the callback log are lost: the database did not take them");
      // What the last flush left out is said in a line, at least.
      leftOut.close();
    },
  };
}

/** So many bytes a minute; what is more than is left is not counted. */
function createMinuteBytes(most: number): { take(bytes: number, now: Date): boolean } {
  const isNewMinute = atMost(1, MINUTE_MS);
  let taken = 0;
  return {
    take(bytes, now) {
      if (isNewMinute(now)) taken = 0;
      if (taken + bytes > most) return false;
      taken += bytes;
      return true;
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
