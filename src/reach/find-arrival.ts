import { setTimeout as sleep } from "node:timers/promises";
import type { LoggedCallback, Page } from "../store/index.ts";

/** The callback log, newest first. */
export interface LogReading {
  /** Makes visible what this process has still to write. */
  flush(): Promise<void>;
  list(page: Page): Promise<readonly LoggedCallback[]>;
}

const LOOK_FOR_MS = 3_000;
const LOOK_EVERY_MS = 150;
const PAGE = 100;
/** A log that grows by more than this in the time of one look is not read to its end. */
const MOST_PAGES = 20;

/** Where the log ends now: rows after that have greater ids. */
export async function endOf(log: LogReading): Promise<number> {
  const [newest] = await log.list({ limit: 1 });
  return newest?.id ?? 0;
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
  let page: Page = { limit: PAGE };
  for (let count = 0; count < MOST_PAGES; count += 1) {
    const rows = (await log.list(page)).filter(({ id }) => id > end);
    const found = rows.find(isOurs);
    const last = rows.at(-1);
    if (found !== undefined || last === undefined || rows.length < PAGE) return found;
    page = { limit: PAGE, before: last.id };
  }
  return undefined;
}
