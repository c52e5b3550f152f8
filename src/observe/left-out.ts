import { randomUUID } from "node:crypto";
import {
  type CallbackLogRow,
  type Clock,
  FAULTS,
  type LeftOut,
  type LeftOutReason,
  type Log,
} from "../domain/index.ts";

/** A callback that is left out of the log. */
export interface LeftOutCallback {
  readonly outcome: CallbackLogRow["outcome"];
  readonly remoteAddress: string;
  /** Its masked URL, asked for where it is the first of its minute. */
  readonly url?: () => string;
}

export interface LeftOutDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** @returns false when there is no room for the row now */
  readonly add: (row: CallbackLogRow) => boolean;
}

/** Counts what the bounds leave out of the log, and says it once a minute for each reason and outcome: how many, since when. */
export interface LeftOutLog {
  note(reason: LeftOutReason, callback: LeftOutCallback): void;
  /** Says what was not said yet. */
  close(): void;
}

const MINUTE_MS = 60_000;
const MOST_ADDRESSES = 1_000;

const MESSAGES: Readonly<Record<LeftOutReason, string>> = {
  rejected_bound: "refused callbacks are not logged one by one: more than the bound in a minute",
  unknown_address: "requests came to addresses that are no callback addresses",
  buffer_full: "callbacks have a line but no row in the callback log: too many wait for the database",
  body_bound: "refused callbacks are not logged one by one: more bytes of their bodies wait than the bound",
  output_bound:
    "refused callbacks have a short line: more bytes than the bound in a minute. Their rows are whole",
};

interface Counted {
  readonly reason: LeftOutReason;
  readonly outcome: CallbackLogRow["outcome"];
  readonly url: string;
  readonly first: Date;
  readonly addresses: Set<string>;
  last: Date;
  count: number;
}

export function createLeftOutLog({ clock, log, add }: LeftOutDeps): LeftOutLog {
  let counts = new Map<string, Counted>();
  /** Rows that found no room; those of the same reason and outcome join them. */
  let waiting = new Map<string, Counted>();
  let timer: NodeJS.Timeout | undefined;

  function close(): void {
    clearTimeout(timer);
    timer = undefined;
    const told = counts;
    counts = new Map();
    for (const counted of told.values()) writeLine(log, counted);
    const rows = joined(waiting, told);
    waiting = new Map();
    for (const [key, counted] of rows) if (!add(rowOf(counted))) waiting.set(key, counted);
    if (waiting.size > 0) schedule();
  }

  function schedule(): void {
    timer ??= setTimeout(close, MINUTE_MS).unref();
  }

  return {
    note(reason, { outcome, remoteAddress, url }) {
      const key = `${reason} ${outcome}`;
      const now = clock.now();
      let counted = counts.get(key);
      if (counted === undefined) {
        const addresses = new Set<string>();
        counted = { reason, outcome, url: url?.() ?? "", first: now, addresses, last: now, count: 0 };
        counts.set(key, counted);
        schedule();
      }
      counted.count += 1;
      counted.last = now;
      if (counted.addresses.size < MOST_ADDRESSES) counted.addresses.add(remoteAddress);
    },
    close() {
      close();
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** Rows stand for what has none of its own. */
function joined(
  before: ReadonlyMap<string, Counted>,
  now: ReadonlyMap<string, Counted>,
): Map<string, Counted> {
  const all = new Map(before);
  for (const [key, counted] of now) {
    if (counted.reason === "output_bound") continue;
    const earlier = all.get(key);
    if (earlier === undefined) {
      all.set(key, counted);
      continue;
    }
    earlier.count += counted.count;
    earlier.last = counted.last;
    for (const address of counted.addresses)
      if (earlier.addresses.size < MOST_ADDRESSES) earlier.addresses.add(address);
  }
  return all;
}

function writeLine(log: Log, counted: Counted): void {
  const { reason, count, addresses, first, last } = leftOutOf(counted);
  const { outcome, url } = counted;
  const fields = { left_out: count, reason, outcome, addresses, first, last, ...(url !== "" && { url }) };
  log[reason === "unknown_address" ? "info" : "warn"](fields, MESSAGES[reason]);
}

function leftOutOf({ reason, count, addresses, first, last }: Counted): LeftOut {
  return { reason, count, addresses: addresses.size, first: first.toISOString(), last: last.toISOString() };
}

/** A row like any other, so that it is found and deleted as those are that it stands for. */
function rowOf(counted: Counted): CallbackLogRow {
  const { outcome, url } = counted;
  const leftOut = leftOutOf(counted);
  const from = `${leftOut.addresses}${leftOut.addresses === MOST_ADDRESSES ? " or more" : ""}`;
  return {
    requestId: randomUUID(),
    receivedAt: leftOut.last,
    source: null,
    eventId: null,
    eventType: null,
    method: "",
    url,
    remoteAddress: "",
    requestHeaders: "{}",
    requestBody: "",
    outcome,
    responseStatus: outcome in FAULTS ? FAULTS[outcome as keyof typeof FAULTS].status : 200,
    responseBody: "",
    processingMs: 0,
    error:
      `${MESSAGES[leftOut.reason]}. It was ${leftOut.count} from ${from} remote addresses, ` +
      `from ${leftOut.first} to ${leftOut.last}`,
    leftOut,
  };
}
