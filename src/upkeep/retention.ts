import type { Config } from "../config/index.ts";
import type { CaptureBuffer } from "../dev/capture/index.ts";
import { type Clock, DAY_MS, isWithoutEvent, type Log, logEntryBytes, OAUTH } from "../domain/index.ts";
import type { Receiver } from "../pipeline/index.ts";
import type { NewLogRow, Store } from "../store/index.ts";
import { createPoller, type Poller } from "../system/index.ts";

/** Older than any row is that has waited only for its group; a search by time allows for as much. */
const LATE_MS = 60_000;
/** After so great a part of what refused requests may take in all, the oldest of them are looked for. */
const REFUSED_SHARE = 8;

/**
 * Stores rows of the callback log. Notes first if they have waited long for it, as they do while a database is away.
 * Keeps the rows of refused requests within their bytes: each process counts what it has added itself.
 */
export function createCallbackAppender(
  store: Pick<Store, "appendCallbacks" | "callbacks" | "retention">,
  refusedBytes: number,
  clock: Clock,
  log: Log,
): (rows: readonly NewLogRow[]) => Promise<void> {
  let added = 0;
  return async (rows) => {
    const now = clock.now();
    const oldest = Math.min(...rows.map(({ receivedAt }) => Date.parse(receivedAt)));
    if (oldest < now.getTime() - LATE_MS) await store.callbacks.noteLate(new Date(oldest), now);
    await store.appendCallbacks(rows);
    for (const row of rows) if (isWithoutEvent(row)) added += logEntryBytes(row);
    if (added <= refusedBytes / REFUSED_SHARE) return;
    added = 0;
    // The rows are stored; the retention job comes by too.
    const failed = (err: unknown) => log.warn({ err }, "deleting old refused callbacks from the log failed");
    await store.retention.trimRefused(refusedBytes).catch(failed);
  };
}

const EVERY_MS = 3_600_000;
/** With 600 refused requests a minute at the most, a flood adds no more than 36,000 rows between two sweeps. */
const MAX_REFUSED_ROWS = 100_000;
/** Records outlive the age at which their events are refused, so that no event falls between the two. */
const RECORD_MARGIN_DAYS = 2;

export type RetentionSweep = (isStopping: () => boolean) => Promise<void>;

/** One step after another that deletes what is past its retention, until `isStopping`. */
export function createRetentionSweep(
  store: Store,
  retention: Config["retention"],
  { clock, log, sourcesByName }: Pick<Receiver, "clock" | "log" | "sourcesByName">,
  captureBuffer: CaptureBuffer | null,
): RetentionSweep {
  const untimed = [...sourcesByName.values()].filter(({ contract }) => !contract.hasSignedTime);
  const untimedSources = [OAUTH, ...untimed.map(({ name }) => name)];
  const { logDays, recordDays, refusedBytes } = retention;
  return async (isStopping) => {
    const now = clock.now();
    const daysAgo = (days: number) => new Date(now.getTime() - days * DAY_MS);
    const records = recordDays === null ? {} : { records: daysAgo(recordDays + RECORD_MARGIN_DAYS) };
    const refused = { refusedRowsKept: MAX_REFUSED_ROWS, refusedBytes };
    const limits = { callbacks: daysAgo(logDays), ...records, ...refused, untimedSources, now };
    const swept = await store.retention.sweep(limits, isStopping);
    if (swept.callbacks + swept.records + swept.stale > 0) log.info({ ...swept }, "the retention job deleted rows");
    await store.valueIndex.sweep(isStopping);
    if (isStopping()) return;
    // Captured requests are deleted once CAPTURE is off.
    await (captureBuffer === null ? store.captures.clear() : captureBuffer.sweep());
  };
}

/** Sweeps now and every hour; its stop waits for the step under way. */
export function startRetentionJob(sweep: RetentionSweep, log: Log): Poller {
  const loop = createPoller(sweep, (error) =>
    log.warn({ err: error }, "the retention job failed; it runs again in an hour"),
  );
  loop.startAtOnce(EVERY_MS);
  return loop;
}
