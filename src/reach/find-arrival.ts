import { setTimeout as sleep } from "node:timers/promises";
import type { CallbackStore, LoggedCallback } from "../store/index.ts";

/** The callback log. */
export interface LogReading {
  /** Makes visible what this process has still to write. */
  flush(): Promise<void>;
  readonly rows: Pick<CallbackStore, "newestIds" | "after">;
}

const LOOK_FOR_MS = 3_000;
const LOOK_EVERY_MS = 150;
const PAGE = 100;
/** A log that grows by more than this in the time of one look is not read to its end. */
const MOST_PAGES = 20;

/** Where the log ends now: rows after that have greater ids. */
export async function endOf({ rows }: LogReading): Promise<number> {
  const [newest = 0] = await rows.newestIds(1);
  return newest;
}

/** Looks for a row after `end` for some seconds: another process may have to write it first. */
export async function findArrival(
  log: LogReading,
  end: number,
  isOurs: (row: LoggedCallback) => boolean,
): Promise<LoggedCallback | undefined> {
  const until = performance.now() + LOOK_FOR_MS;
  for (;;) {
    await log.flush();
    const found = await look(log, end, isOurs);
    if (found !== undefined || performance.now() > until) return found;
    await sleep(LOOK_EVERY_MS);
  }
}

async function look(
  log: LogReading,
  end: number,
  isOurs: (row: LoggedCallback) => boolean,
): Promise<LoggedCallback | undefined> {
  let last = end;
  for (let count = 0; count < MOST_PAGES; count += 1) {
    const rows = await log.rows.after(last, PAGE);
    const found = rows.find(isOurs);
    if (found !== undefined || rows.length < PAGE) return found;
    last = rows.at(-1)?.id ?? last;
  }
  return undefined;
}
