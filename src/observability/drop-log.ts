import { randomUUID } from "node:crypto";
import {
  type CallbackLogEntry,
  type Clock,
  DROP_REASONS,
  type DroppedCallbacks,
  type DropReason,
  getOrMake,
  type Log,
  MINUTE_MS,
  outcomeStatus,
  UNKNOWN_REQUEST,
} from "../domain/index.ts";

export interface DroppedCallback {
  readonly outcome: CallbackLogEntry["outcome"];
  readonly remoteAddress: string;
  /** Its masked URL, asked for where it is the first of its minute. */
  readonly url?: () => string;
}

const MAX_ADDRESSES = 1_000;

interface DropCount {
  readonly reason: DropReason;
  readonly outcome: CallbackLogEntry["outcome"];
  readonly url: string;
  readonly first: Date;
  readonly addresses: Set<string>;
  last: Date;
  count: number;
}

/**
 * Counts the rows that the bounds leave out of the log. Reports once a minute, for each reason and outcome, how many
 * and since when.
 * @param add returns false when there is no room for the row now
 */
export function createDropLog(clock: Clock, log: Log, add: (row: CallbackLogEntry) => boolean) {
  let counts = new Map<string, DropCount>();
  /** Rows that found no room; those of the same reason and outcome join them. */
  const waiting = new Map<string, DropCount>();
  let timer: NodeJS.Timeout | undefined;

  function unschedule(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  function report(): void {
    unschedule();
    for (const [key, counted] of counts) {
      writeLine(log, counted);
      // The callbacks of shortened lines have rows of their own.
      if (counted.reason !== "output_bound") waiting.set(key, joined(waiting.get(key), counted));
    }
    counts = new Map();
    for (const [key, counted] of waiting) if (add(entryOf(counted))) waiting.delete(key);
    if (waiting.size > 0) schedule();
  }

  function schedule(): void {
    timer ??= setTimeout(report, MINUTE_MS).unref();
  }

  return {
    note(reason: DropReason, { outcome, remoteAddress, url }: DroppedCallback): void {
      const key = `${reason} ${outcome}`;
      const now = clock.now();
      const counted = getOrMake(counts, key, () => {
        schedule();
        const addresses = new Set<string>();
        return { reason, outcome, url: url?.() ?? "", first: now, addresses, last: now, count: 0 };
      });
      counted.count += 1;
      counted.last = now;
      if (counted.addresses.size < MAX_ADDRESSES) counted.addresses.add(remoteAddress);
    },
    close(): void {
      report();
      unschedule();
    },
  };
}

function joined(earlier: DropCount | undefined, now: DropCount): DropCount {
  if (earlier === undefined) return now;
  earlier.count += now.count;
  earlier.last = now.last;
  for (const address of now.addresses) if (earlier.addresses.size < MAX_ADDRESSES) earlier.addresses.add(address);
  return earlier;
}

function writeLine(log: Log, counted: DropCount): void {
  const { reason, count, addresses, first, last } = droppedCallbacks(counted);
  const { outcome, url } = counted;
  const fields = { left_out: count, reason, outcome, addresses, first, last, ...(url !== "" && { url }) };
  log[reason === "unknown_address" ? "info" : "warn"](fields, DROP_REASONS[reason]);
}

function droppedCallbacks({ reason, count, addresses, first, last }: DropCount): DroppedCallbacks {
  return { reason, count, addresses: addresses.size, first: first.toISOString(), last: last.toISOString() };
}

/** A row like any other, so that it is found and deleted as those are that it stands for. */
function entryOf(counted: DropCount): CallbackLogEntry {
  const { outcome, url } = counted;
  const dropped = droppedCallbacks(counted);
  const from = `${dropped.addresses}${dropped.addresses === MAX_ADDRESSES ? " or more" : ""}`;
  return {
    ...UNKNOWN_REQUEST,
    requestId: randomUUID(),
    receivedAt: dropped.last,
    url,
    outcome,
    responseStatus: outcomeStatus(outcome),
    error:
      `${DROP_REASONS[dropped.reason]}. It was ${dropped.count} from ${from} remote addresses, ` +
      `from ${dropped.first} to ${dropped.last}`,
    leftOut: dropped,
  };
}
