import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";

import {
  type CallbackLogEntry,
  type Clock,
  createWindowLimit,
  type Diagnosis,
  type DropReason,
  type Log,
  logEntryBytes,
} from "../domain/index.ts";
import { createDropLog, type DroppedCallback } from "./drop-log.ts";
import { type WriteLine, writeLogLine } from "./log-line.ts";
import type { Metrics } from "./metrics.ts";
import { createRowBuffer } from "./row-buffer.ts";
import type { TraceIds } from "./tracing/index.ts";

export interface CallbackLogOptions {
  /** Stores rows, all of them or none. */
  readonly append: (rows: readonly CallbackLogEntry[]) => Promise<void>;
  readonly logger: Log;
  readonly write: WriteLine;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, "callbacksDropped">;
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
  /** Where the row, which committed with its event, has a shorter time. */
  readonly processingMs?: number;
}

/** A refused request that is logged after its answer. */
export interface RefusedRequest extends DroppedCallback {
  /** As it arrived; kept until it is masked. */
  readonly body: Uint8Array;
  /** @param sha256 of a long body */
  readonly entry: (sha256?: string) => CallbackLogEntry;
  readonly trace?: TraceIds | undefined;
  /** Why it was not authentic, once that is known; never rejects. */
  readonly diagnosis?: Promise<Diagnosis | undefined> | undefined;
}

/** The callback log (SPEC 1.8): a line on standard output for each callback, and a row in the store. */
export interface CallbackLog {
  writeLine(row: CallbackLogEntry, options?: LineOptions): void;
  /** A row that does not commit with an event's own transaction; it is stored with others shortly after. */
  addEntry(row: CallbackLogEntry): void;
  /** Logs a refused request after this turn of the event loop, where `admitRejected` said that it may be. */
  addRefused(request: RefusedRequest): void;
  /** Asked before a refused request is masked and logged, so that a flood of garbage costs next to nothing. */
  admitRejected(request: DroppedCallback): boolean;
  /** Notes a request that has neither line nor row: what came to no callback address. */
  drop(reason: DropReason, request: DroppedCallback): void;
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
  const failed = warnOncePerMinute(logger, clock);
  const diagnosing = createDiagnosedEntries();
  const deferred = createDeferredQueue(logger);
  const buffer = createRowBuffer({
    async append(rows: readonly CallbackLogEntry[]) {
      await diagnosing.ended();
      await append(rows);
    },
    maxRows: bounds.waiting,
    lengthOf,
    onError: failed,
  });
  let isClosed = false;
  const dropLog = createDropLog({ clock, log: logger, add: (row) => !isClosed && buffer.add(row) });
  const admit = createWindowLimit(bounds.rejectedPerMinute, MINUTE_MS);
  const output = createMinuteByteLimit(bounds.outputBytesPerMinute);

  function drop(reason: DropReason, callback: DroppedCallback): void {
    metrics.callbacksDropped(reason, 1);
    dropLog.note(reason, callback);
  }

  function addEntry(row: CallbackLogEntry): void {
    if (!buffer.add(row)) drop("buffer_full", { ...row, url: () => row.url });
  }

  function writeRefused(row: CallbackLogEntry, trace: TraceIds | undefined): void {
    const isShort = !output.take(logEntryBytes(row), clock.now());
    if (isShort) dropLog.note("output_bound", { ...row, url: () => row.url });
    writeLogLine(write, row, { trace, isShort });
  }

  return {
    writeLine: (row, options) => writeLogLine(write, row, options),
    addEntry: addEntry,
    addRefused(request) {
      const { body, entry, trace, diagnosis } = request;
      const isAdded = deferred.add(body, (sha256) => {
        const made = entry(sha256);
        writeRefused(made, trace);
        addEntry(diagnosis === undefined ? made : diagnosing.entryWith(made, diagnosis));
      });
      if (!isAdded) drop("body_bound", request);
    },
    admitRejected(request) {
      const isAdmitted = admit(clock.now());
      if (!isAdmitted) drop("rejected_bound", request);
      return isAdmitted;
    },
    drop: drop,
    async flush() {
      await deferred.done();
      await buffer.flush();
    },
    async close() {
      await deferred.done();
      dropLog.close();
      const rows = await buffer.close();
      isClosed = true;
      if (rows > 0)
        logger.error({ rows }, "rows of the callback log are lost: the database did not take them");
      // What the last flush left out is said in a line, at least.
      dropLog.close();
    },
  };
}

/** So many bytes a minute; what is more than is left is not counted. */
function createMinuteByteLimit(most: number): { take(bytes: number, now: Date): boolean } {
  const isNewMinute = createWindowLimit(1, MINUTE_MS);
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
function createDiagnosedEntries() {
  const unfinished = new Set<Promise<void>>();
  return {
    entryWith(row: CallbackLogEntry, diagnosis: Promise<Diagnosis | undefined>): CallbackLogEntry {
      const kept: CallbackLogEntry & { diagnosis?: Diagnosis } = { ...row };
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

function lengthOf(row: CallbackLogEntry): number {
  const { url, requestHeaders, requestBody, responseBody, error } = row;
  return url.length + requestHeaders.length + requestBody.length + responseBody.length + (error?.length ?? 0);
}

/** A database that is away fails every second; saying so once a minute is enough. */
function warnOncePerMinute(logger: Log, clock: Clock): (error: unknown, rows: number) => void {
  const mayWarn = createWindowLimit(1, MINUTE_MS);
  return (error, rows) => {
    if (!mayWarn(clock.now())) return;
    logger.warn({ err: error, rows }, "the callback log could not be stored; it is kept and tried again");
  };
}

/** What is done of a callback after its answer, in turns of the event loop of its own. */
interface DeferredQueue {
  /**
   * @param body kept until then
   * @param work is given the SHA-256 of a body that is too long to be hashed in one turn
   * @returns false where more bytes wait than may
   */
  add(body: Uint8Array, work: (sha256?: string) => void): boolean;
  /** Resolves when all that was added so far is done; never rejects. */
  done(): Promise<void>;
}

const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Rows of empty bodies take memory too. */
const MIN_BYTES = 4_096;
const HASHED_AT_ONCE = 1024 * 1024;

/** One after the other, each in a turn of its own: a flood of refused callbacks never keeps the loop for longer than one of them. */
function createDeferredQueue(log: Log, most = MAX_WAITING_BYTES): DeferredQueue {
  let waitingBytes = 0;
  let last: Promise<void> = Promise.resolve();

  async function run(body: Uint8Array, work: (sha256?: string) => void): Promise<void> {
    await nextTurn();
    try {
      if (body.length > HASHED_AT_ONCE) work(await hashed(body));
      else work();
    } catch (error) {
      log.error({ err: error }, "a refused callback could not be logged");
    }
  }

  return {
    add(body, work) {
      const bytes = Math.max(MIN_BYTES, body.length);
      // A single body may be longer than all that may wait.
      if (waitingBytes > 0 && waitingBytes + bytes > most) return false;
      waitingBytes += bytes;
      last = last
        .then(() => run(body, work))
        .then(() => {
          waitingBytes -= bytes;
        });
      return true;
    },
    done: () => last,
  };
}

async function hashed(body: Uint8Array): Promise<string> {
  const hash = createHash("sha256");
  for (let at = 0; at < body.length; at += HASHED_AT_ONCE) {
    hash.update(body.subarray(at, at + HASHED_AT_ONCE));
    await nextTurn();
  }
  return hash.digest("hex");
}
