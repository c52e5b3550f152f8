import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { type CallbackFilter, matchesCallback } from "../../domain/index.ts";
import type { Caller } from "../access/authenticator.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import type { GapView } from "../gap-schema.ts";
import type { TallyView } from "../page-schemas.ts";
import { presentCallback } from "../present.ts";
import { formatPosition, type LogPosition, LogReader, type ReadCallback } from "./log-reader.ts";

const POLL_EVERY_MS = 500;
const TALLY_EVERY_MS = 2_000;
/** A session that expired, or ended on another process, loses its streams within this time. */
const SESSION_EVERY_MS = 2_000;
/** An application is asked so often whether the reader of a stream may go on. */
const PERMISSION_EVERY_MS = 15_000;
const HEARTBEAT_EVERY_MS = 15_000;
const MAX_STREAMS = 32;
/** Bodies may be long; between two batches the event loop runs other requests and flushes what was written. */
const BATCH_SIZE = 25;
/** Rows of one look; more of them are left out, which an event reports. */
const MAX_ROWS = 1_000;
/** How long all streams share a count of failures. */
const COUNTED_FOR_MS = 1_000;

/**
 * Callbacks as they are answered, by any process of this database. Each stream has its position in the log, and reads no
 * faster than its client. The failures are counted once for all of them.
 */
export class LiveFeed {
  readonly #deps: Pick<AdminDependencies, "store" | "clock" | "log">;
  readonly #streams = new Map<LiveStream, Promise<void>>();
  #isClosing = false;
  #counts = Promise.resolve({ accepted: 0, waiting: 0, exhausted: 0, rejected: 0 });
  #countAgainAt = 0;

  constructor(deps: Pick<AdminDependencies, "store" | "clock" | "log">) {
    this.#deps = deps;
  }

  get hasRoom(): boolean {
    return this.#streams.size < MAX_STREAMS && !this.#isClosing;
  }

  /** @param from the last position of the client's earlier stream */
  add(stream: LiveStream, from?: LogPosition): void {
    const running = this.#run(stream, from)
      .catch((error: unknown) => {
        this.#deps.log.warn({ err: error }, "a live stream was ended: the callback log could not be read");
        stream.disconnect();
      })
      .finally(() => this.#streams.delete(stream));
    this.#streams.set(stream, running);
    // Beside the reading loop, which waits for a slow client.
    const every = (ms: number, look: () => Promise<void>) => {
      const watch = setInterval(() => look().catch(() => {}), ms);
      stream.closed.addEventListener("abort", () => clearInterval(watch));
    };
    const { session, isStillAllowed } = stream.caller;
    if (session !== null) every(SESSION_EVERY_MS, () => this.#endIfOver(stream, session));
    if (isStillAllowed === undefined) return;
    every(PERMISSION_EVERY_MS, async () => {
      if (!(await isStillAllowed())) stream.disconnect();
    });
  }

  endSession(idSha256: string): void {
    for (const stream of this.#streams.keys()) if (stream.caller.session?.idSha256 === idSha256) stream.disconnect();
  }

  /** Ends all streams; resolves when none uses the database any more. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const stream of this.#streams.keys()) stream.end();
    await Promise.all(this.#streams.values());
  }

  async #run(stream: LiveStream, from: LogPosition | undefined): Promise<void> {
    const { store, log } = this.#deps;
    const reader = await readerFrom(from, store.callbacks, stream);
    // Missed callbacks are no part of the next tally.
    await sendNew(reader, store.callbacks, stream);
    let tally = newTally();
    const due = { tally: 0, heartbeat: performance.now() + HEARTBEAT_EVERY_MS };
    let isFailing = false;
    while (!stream.closed.aborted) {
      const now = performance.now();
      try {
        await sendNew(reader, store.callbacks, stream, tally);
        if (now >= due.tally) {
          await stream.send(eventAt(reader, "tally", { ...tally, ...(await this.#failureCounts()) }));
          tally = newTally();
          due.tally = now + TALLY_EVERY_MS - POLL_EVERY_MS / 2;
          due.heartbeat = now + HEARTBEAT_EVERY_MS;
        }
        isFailing = false;
      } catch (error) {
        if (!isFailing) log.warn({ err: error }, "live callbacks cannot be read; trying again");
        isFailing = true;
      }
      if (now >= due.heartbeat) {
        await stream.send(": still here\n\n");
        due.heartbeat = now + HEARTBEAT_EVERY_MS;
      }
      await sleep(POLL_EVERY_MS, undefined, { signal: stream.closed }).catch(() => {});
    }
  }

  /** Ends a stream whose session has expired, or was ended by another process. */
  async #endIfOver(stream: LiveStream, { idSha256, expiresAt }: NonNullable<Caller["session"]>) {
    const now = this.#deps.clock.now();
    const isOpen = expiresAt > now && (await this.#deps.store.sessions.among([idSha256], now)).has(idSha256);
    if (!isOpen) stream.disconnect();
  }

  #failureCounts() {
    const startedAt = performance.now();
    if (startedAt < this.#countAgainAt) return this.#counts;
    this.#countAgainAt = Number.POSITIVE_INFINITY;
    this.#counts = this.#deps.store.failures.counts().finally(() => {
      const now = performance.now();
      // Counting a million failures takes long: it may use at most a twentieth of the time.
      this.#countAgainAt = now + Math.max(COUNTED_FOR_MS, (now - startedAt) * 20);
    });
    return this.#counts;
  }
}

type Callbacks = AdminDependencies["store"]["callbacks"];

/** A reader from this position, or from the log's end if the position is of another database. */
async function readerFrom(from: LogPosition | undefined, callbacks: Callbacks, stream: LiveStream) {
  if (from === undefined) return LogReader.atEnd(callbacks);
  const [until = 0] = await callbacks.newestIds(1);
  if (from.newest <= until) return new LogReader(callbacks, from);
  const reader = await LogReader.atEnd(callbacks);
  await stream.send(eventAt(reader, "gap", { after: null, until }));
  return reader;
}

async function sendNew(reader: LogReader, callbacks: Callbacks, stream: LiveStream, tally = newTally()) {
  for (let looked = 0; looked < MAX_ROWS; looked += BATCH_SIZE) {
    const { read, isBehind } = await reader.next(BATCH_SIZE);
    for (const one of read) {
      const { outcome } = one.row;
      tally.callbacks += 1;
      tally.outcomes[outcome] = (tally.outcomes[outcome] ?? 0) + 1;
      if (matchesCallback(stream.filter, one.row)) await stream.send(callbackEvent(one));
    }
    if (!isBehind || stream.closed.aborted) return;
    await nextTurn();
  }
  const after = reader.position.newest;
  const [until = after] = await callbacks.newestIds(1);
  if (until <= after) return;
  reader.skipTo(until);
  tally.callbacks += until - after;
  await stream.send(eventAt(reader, "gap", { after, until }));
}

function newTally(): { callbacks: number; readonly outcomes: Record<string, number> } {
  return { callbacks: 0, outcomes: {} };
}

function callbackEvent({ row, position }: ReadCallback): string {
  return `id: ${position}\nevent: callback\ndata: ${JSON.stringify(presentCallback(row))}\n\n`;
}

/** Each event has the position, so that a client that sees few callbacks does not reconnect far behind. */
function eventAt({ position }: LogReader, name: "tally" | "gap", data: TallyView | GapView): string {
  return `id: ${formatPosition(position)}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A client with unread bytes for longer is disconnected. */
const MAX_UNREAD_MS = 10_000;

export class LiveStream {
  readonly filter: CallbackFilter;
  readonly caller: Pick<Caller, "session" | "isStillAllowed">;
  readonly #response: ServerResponse;
  readonly #closed = new AbortController();

  constructor(filter: CallbackFilter, response: ServerResponse, caller: LiveStream["caller"]) {
    this.filter = filter;
    this.caller = caller;
    this.#response = response;
    response.once("close", () => this.#closed.abort());
    // A write to a client that just disconnected is no error.
    response.on("error", () => this.#closed.abort());
  }

  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Resolves when there is room for more, or the client was disconnected for not reading. */
  async send(text: string): Promise<void> {
    if (this.closed.aborted || this.#response.write(text)) return;
    const stalled = setTimeout(() => this.disconnect(), MAX_UNREAD_MS);
    await once(this.#response, "drain", { signal: this.closed }).catch(() => {});
    clearTimeout(stalled);
  }

  end(): void {
    this.#closed.abort();
    this.#response.end();
  }

  disconnect(): void {
    this.#closed.abort();
    this.#response.destroy();
  }
}
