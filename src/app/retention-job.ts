import type { Config } from "../config/index.ts";
import type { CaptureBuffer } from "../dev/capture/index.ts";
import type { Clock, Log } from "../domain/index.ts";
import type { Store } from "../store/index.ts";

const EVERY_MS = 3_600_000;
/** With 600 refused requests a minute at the most, a flood adds no more than 36,000 rows between two sweeps. */
const MAX_REFUSED_ROWS = 100_000;
const DAY_MS = 86_400_000;
/** Records outlive the age at which their events are refused, so that no event falls between the two. */
const RECORD_MARGIN_DAYS = 2;

/** Deletes what is past its retention, now and then every hour. @returns stops it and waits for its end */
export function startRetentionJob(
  store: Store,
  retention: Config["retention"],
  clock: Clock,
  log: Log,
  captureBuffer: CaptureBuffer | null,
): () => Promise<void> {
  const { logDays, recordDays, refusedBytes } = retention;

  async function sweep(): Promise<void> {
    const now = clock.now();
    const daysAgo = (days: number) => new Date(now.getTime() - days * DAY_MS);
    const records = recordDays === null ? {} : { records: daysAgo(recordDays + RECORD_MARGIN_DAYS) };
    const limits = { callbacks: daysAgo(logDays), refusedRowsKept: MAX_REFUSED_ROWS, refusedBytes };
    try {
      const swept = await store.retention.sweep({ ...limits, ...records, now });
      if (swept.callbacks + swept.records + swept.stale > 0)
        log.info({ ...swept }, "the retention job deleted rows");
      // Captured requests are deleted once CAPTURE is off.
      await (captureBuffer === null ? store.captures.clear() : captureBuffer.sweep());
    } catch (error) {
      log.warn({ err: error }, "the retention job failed; it runs again in an hour");
    }
  }

  let currentSweep = sweep();
  const timer = setInterval(() => {
    currentSweep = sweep();
  }, EVERY_MS);
  return async () => {
    clearInterval(timer);
    await currentSweep;
  };
}
