import type { CallbackLogRow, Clock, Log } from "../domain/index.ts";
import type { Metrics } from "./metrics.ts";

export interface CallbackLogOptions {
  /** Stores rows, all of them or none. */
  readonly append: (rows: readonly CallbackLogRow[]) => Promise<void>;
  readonly logger: Log;
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
  line(row: CallbackLogRow): void;
  /** A row that does not commit with an event's own transaction; it is stored with others shortly after. */
  add(row: CallbackLogRow): void;
  /** Asked before a refused request is masked and logged, so that a flood of garbage costs next to nothing. */
  admitRejected(now: Date): boolean;
  /** Resolves when every row added so far is stored, or could not be. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const FLUSH_AFTER_MS = 100;
const ROWS_AT_ONCE = 200;
const MINUTE_MS = 60_000;

export function createCallbackLog({
  append,
  logger,
  clock,
  metrics,
  bounds,
}: CallbackLogOptions): CallbackLog {
  const { rejectedPerMinute = 600, waiting: mostWaiting = 10_000 } = bounds ?? {};
  const minute = { begun: 0, admitted: 0, left: 0 };
  let waiting: CallbackLogRow[] = [];
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;

  async function store(): Promise<void> {
    while (waiting.length > 0) {
      const rows = waiting.slice(0, ROWS_AT_ONCE);
      try {
        await append(rows);
      } catch (error) {
        logger.warn(
          { err: error, rows: waiting.length },
          "the callback log could not be stored; it is kept and tried again",
        );
        return;
      }
      waiting = waiting.slice(rows.length);
    }
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    flushing ??= store().finally(() => {
      flushing = undefined;
      if (waiting.length > 0) schedule();
    });
    await flushing;
  }

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), FLUSH_AFTER_MS).unref();
  }

  function reportLeftOut(): void {
    if (minute.left === 0) return;
    logger.warn(
      { left_out: minute.left },
      "refused callbacks were counted but not logged: more than the bound in a minute",
    );
    minute.left = 0;
  }

  return {
    line: (row) => writeLine(logger, row),
    add(row) {
      if (waiting.length >= mostWaiting) {
        metrics.logRowsDropped("buffer_full", 1);
        return;
      }
      waiting.push(row);
      schedule();
    },
    admitRejected(now) {
      if (now.getTime() - minute.begun >= MINUTE_MS || now.getTime() < minute.begun) {
        reportLeftOut();
        minute.begun = now.getTime();
        minute.admitted = 0;
      }
      if (minute.admitted < rejectedPerMinute) {
        minute.admitted += 1;
        return true;
      }
      minute.left += 1;
      metrics.logRowsDropped("rejected_bound", 1);
      return false;
    },
    flush,
    async close() {
      reportLeftOut();
      await flush();
      clearTimeout(timer);
      if (waiting.length > 0) {
        logger.error(
          { rows: waiting.length, at: clock.now() },
          "rows of the callback log are lost: the database did not take them",
        );
      }
    },
  };
}

function writeLine(logger: Log, row: CallbackLogRow): void {
  const fields = {
    request_id: row.requestId,
    source: row.source,
    event_id: row.eventId,
    event_type: row.eventType,
    method: row.method,
    url: row.url,
    remote_address: row.remoteAddress,
    headers: row.requestHeaders,
    body: row.requestBody,
    outcome: row.outcome,
    status: row.responseStatus,
    response: row.responseBody,
    duration_ms: Math.round(row.processingMs * 1000) / 1000,
    error: row.error,
  };
  if (row.responseStatus >= 500) logger.error(fields, "callback");
  else if (row.responseStatus >= 400) logger.warn(fields, "callback");
  else logger.info(fields, "callback");
}
