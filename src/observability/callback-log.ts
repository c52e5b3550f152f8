import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type CallbackLogEntry,
  type Clock,
  createSparingLog,
  createWindowLimit,
  type Diagnosis,
  type DropReason,
  type Log,
  logEntryBytes,
  MINUTE_MS,
  withClaimedType,
} from "../domain/index.ts";
import { createDropLog, type DroppedCallback } from "./drop-log.ts";
import { type Line, type WriteLine, writeLogLine } from "./log-line.ts";
import type { Metrics } from "./metrics.ts";
import { createRowBuffer } from "./row-buffer.ts";
import type { TraceIds } from "./tracing/index.ts";

interface CallbackLogOptions {
  readonly append: (rows: readonly CallbackLogEntry[]) => Promise<void>;
  /** How much memory an entry takes beside its texts: an original waits with it. */
  readonly bytesBeside?: (row: CallbackLogEntry) => number;
  /** Whether an error of `append` is of a value in its rows, so that it would come again. */
  readonly isDataError: (error: unknown) => boolean;
  readonly logger: Log;
  readonly write: WriteLine;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, "callbackDropped">;
  readonly bounds?: Partial<typeof BOUNDS>;
}

const NOT_STORED = "the callback log could not be stored; it is kept and tried again";
const LOST = "rows of the callback log are lost: the database did not take them";
const REFUSED = "the database refused a row of the callback log; it is dropped, and its callback has only its line";
const BOUNDS = {
  /** How many refused requests a minute are logged; the rest is only counted. */
  rejectedPerMinute: 600,
  waiting: 10_000,
  /** How many bytes refused requests may take on standard output in a minute; the lines of further ones are short. */
  outputBytesPerMinute: 1024 * 1024,
};

export interface RefusedRequest extends DroppedCallback {
  /** As it arrived; kept until it is masked. */
  readonly body: Uint8Array;
  /** @param sha256 of a long body */
  readonly entry: (sha256?: string) => CallbackLogEntry;
  readonly trace?: TraceIds | undefined;
  /** Why it was not authentic, once that is known; never rejects. */
  readonly diagnosis?: Promise<Diagnosis | undefined> | undefined;
}

export type CallbackLog = ReturnType<typeof createCallbackLog>;

/** The callback log (SPEC 1.8): a line on standard output for each callback, and a row in the store. */
export function createCallbackLog(options: CallbackLogOptions) {
  const { append, bytesBeside = () => 0, isDataError, logger, write, clock, metrics } = options;
  const bounds = { ...BOUNDS, ...options.bounds };
  // A database that is away fails every second; saying so once a minute is enough.
  const sparing = createSparingLog(logger, clock);
  const diagnosed = new Set<Promise<void>>();
  const deferred = createDeferredQueue(logger);
  const buffer = createRowBuffer({
    async append(rows: readonly CallbackLogEntry[]) {
      await Promise.all(diagnosed);
      await append(rows);
    },
    maxRows: bounds.waiting,
    lengthOf: (row) => lengthOf(row) + bytesBeside(row),
    isDataError,
    onRefused(row, err) {
      sparing("error", { fields: { err, request_id: row.requestId }, message: REFUSED });
      drop("row_refused", { ...row, url: () => row.url });
    },
    onError: (err, rows) => sparing("warn", { fields: { err, rows }, message: NOT_STORED }),
  });
  let isClosed = false;
  const dropLog = createDropLog(clock, logger, (row) => !isClosed && buffer.add(row));
  const admit = createWindowLimit(bounds.rejectedPerMinute, MINUTE_MS);
  const takeOutput = createWindowLimit(bounds.outputBytesPerMinute, MINUTE_MS);

  /** Notes a request that has neither line nor row: what came to no callback address. */
  function drop(reason: DropReason, callback: DroppedCallback): void {
    metrics.callbackDropped(reason);
    dropLog.note(reason, callback);
  }

  /** A row that does not commit with an event's own transaction; it is stored with others shortly after. */
  function addEntry(row: CallbackLogEntry): void {
    if (!buffer.add(row)) drop("buffer_full", { ...row, url: () => row.url });
  }

  /** A row takes its place at once, in order of arrival; its diagnosis is put into it there. */
  function awaitDiagnosis(row: { diagnosis?: Diagnosis }, diagnosis: Promise<Diagnosis | undefined>): void {
    const put = diagnosis.then((found) => {
      if (found !== undefined) row.diagnosis = found;
      diagnosed.delete(put);
    });
    diagnosed.add(put);
  }

  return {
    writeLine: (row: CallbackLogEntry, line?: Line) => writeLogLine(write, row, line),
    addEntry: (row: CallbackLogEntry) => addEntry(withClaimedType(row)),
    /** Logs a refused request after this turn of the event loop, where `admitRefused` said that it may be. */
    addRefused(request: RefusedRequest): void {
      const { body, entry, trace, diagnosis } = request;
      const isAdded = deferred.add(body, (sha256) => {
        const shown = entry(sha256);
        const isShort = !takeOutput(clock.now(), logEntryBytes(shown));
        if (isShort) dropLog.note("output_bound", { ...shown, url: () => shown.url });
        // The line has only what is authentic.
        writeLogLine(write, shown, { trace, isShort });
        const row = { ...withClaimedType(shown) };
        if (diagnosis !== undefined) awaitDiagnosis(row, diagnosis);
        addEntry(row);
      });
      if (!isAdded) drop("body_bound", request);
    },
    /** Asked before a refused request is masked and logged, so that a flood of garbage costs next to nothing. */
    admitRefused(request: DroppedCallback): boolean {
      const isAdmitted = admit(clock.now());
      if (!isAdmitted) drop("rejected_bound", request);
      return isAdmitted;
    },
    drop,
    /** Resolves when every row added so far is stored, or could not be; never rejects. */
    flush: (): Promise<void> => deferred.done().then(buffer.flush),
    /** Flushes, reports what was left out and stops the timers. */
    async close(): Promise<void> {
      await deferred.done();
      dropLog.close();
      const rows = await buffer.close();
      isClosed = true;
      if (rows > 0) logger.error({ rows }, LOST);
      // A line, at least, reports the rows that the last flush left out.
      dropLog.close();
    },
  };
}

function lengthOf(row: CallbackLogEntry): number {
  const { url, requestHeaders, requestBody, responseBody, error } = row;
  return url.length + requestHeaders.length + requestBody.length + responseBody.length + (error?.length ?? 0);
}

const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Rows of empty bodies take memory too. */
const MIN_BYTES = 4_096;
const HASHED_AT_ONCE = 1024 * 1024;

/**
 * Runs the work that follows a callback's answer: one by one, each in a turn of the event loop. A flood of refused
 * callbacks never keeps the loop for longer than one of them.
 */
function createDeferredQueue(log: Log) {
  let waitingBytes = 0;
  let last: Promise<void> = Promise.resolve();

  async function run(body: Uint8Array, bytes: number, work: (sha256?: string) => void): Promise<void> {
    await nextTurn();
    try {
      if (body.length > HASHED_AT_ONCE) work(await hashed(body));
      else work();
    } catch (error) {
      log.error({ err: error }, "a refused callback could not be logged");
    } finally {
      waitingBytes -= bytes;
    }
  }

  return {
    /**
     * @param body kept until then
     * @param work is given the SHA-256 of a body that is too long to be hashed in one turn
     * @returns false where more bytes wait than may
     */
    add(body: Uint8Array, work: (sha256?: string) => void): boolean {
      const bytes = Math.max(MIN_BYTES, body.length);
      // A single body may be longer than all that may wait.
      if (waitingBytes > 0 && waitingBytes + bytes > MAX_WAITING_BYTES) return false;
      waitingBytes += bytes;
      last = last.then(() => run(body, bytes, work));
      return true;
    },
    /** Resolves when all that was added so far is done; never rejects. */
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
