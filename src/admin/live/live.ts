import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Clock, Log } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import type { GapView, TallyView } from "../overview-shapes.ts";
import { presentCallback } from "../present.ts";
import type { Listener } from "./listener.ts";
import { LogReader, type ReadCallback } from "./log-reader.ts";
import { type Place, writePlace } from "./place.ts";

const LOOK_EVERY_MS = 500;
const TALLY_EVERY_MS = 2_000;
/** Who has signed out elsewhere hears no more after that. */
const SESSIONS_EVERY_MS = 2_000;
const HEARTBEAT_EVERY_MS = 15_000;
const MOST_LISTENERS = 32;
/** Bodies may be long; between two such steps others have their turn, and what was written goes out. */
const AT_ONCE = 25;
/** Rows of one look; a flood of more is left out, and said to be. */
const MOST_A_LOOK = 5_000;
/** Rows that are looked at for somebody who comes back. */
const MOST_BROUGHT_UP = 1_000;

interface LiveDeps {
  readonly store: Pick<Store, "callbacks" | "failures" | "sessions">;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Callbacks as they are answered, by whatever process of this database, for those who listen. The database is asked once for
 * all of them, and only while somebody listens.
 */
export class Live {
  readonly #store: LiveDeps["store"];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #listeners = new Set<Listener>();
  readonly #ending = new AbortController();
  #reader: Promise<LogReader> | undefined;
  #running: Promise<void> | undefined;
  #tally = newTally();
  #nextTallyAt = 0;
  #spokenAt = 0;
  #nextSessionsAt = 0;
  #isAway = false;

  constructor({ store, clock, log }: LiveDeps) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  get hasRoom(): boolean {
    return this.#listeners.size < MOST_LISTENERS && !this.#ending.signal.aborted;
  }

  /** @param from where it has been before, for what it has missed. @throws what the database throws */
  async join(listener: Listener, from?: Place): Promise<void> {
    this.#listeners.add(listener);
    listener.gone.addEventListener("abort", () => this.#listeners.delete(listener));
    try {
      const reader = await this.#begun();
      if (from !== undefined) await this.#bringUp(listener, from, reader);
      listener.release();
      listener.tell(eventOf("tally", await this.#newTally(newTally()), reader.place));
    } catch (error) {
      listener.cut();
      throw error;
    }
  }

  /** Ends the streams of a session that has ended. */
  endSession(idSha256: string): void {
    for (const listener of this.#listeners) if (listener.session?.idSha256 === idSha256) listener.cut();
  }

  /** Ends all streams; resolves when the database is asked no more. */
  async close(): Promise<void> {
    this.#ending.abort();
    for (const listener of this.#listeners) listener.end();
    await this.#running;
  }

  #begun(): Promise<LogReader> {
    this.#reader ??= this.#begin();
    return this.#reader;
  }

  async #begin(): Promise<LogReader> {
    try {
      const reader = await LogReader.atEnd(this.#store.callbacks);
      this.#spokenAt = performance.now();
      this.#nextTallyAt = this.#spokenAt + TALLY_EVERY_MS;
      this.#running = this.#run(reader);
      return reader;
    } catch (error) {
      this.#reader = undefined;
      throw error;
    }
  }

  async #run(reader: LogReader): Promise<void> {
    const { signal } = this.#ending;
    while (this.#listeners.size > 0 && !signal.aborted) {
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
      try {
        await this.#endSessions();
        await this.#look(reader);
        await this.#tellTally(reader);
        this.#isAway = false;
      } catch (error) {
        if (!this.#isAway) this.#log.warn({ err: error }, "live callbacks cannot be read; trying again");
        this.#isAway = true;
      }
      if (performance.now() - this.#spokenAt >= HEARTBEAT_EVERY_MS) this.#tellAll(": still here\n\n");
    }
    this.#reader = undefined;
    this.#tally = newTally();
  }

  /** Those whose time is over, and those that were ended by another process: the database is asked once for all listeners. */
  async #endSessions(): Promise<void> {
    const now = this.#clock.now();
    const sessions = [...this.#listeners].flatMap(({ session }) => session ?? []);
    const over = sessions.filter(({ expiresAt }) => expiresAt <= now);
    for (const { idSha256 } of over) this.endSession(idSha256);
    if (sessions.length === 0 || performance.now() < this.#nextSessionsAt) return;
    this.#nextSessionsAt = performance.now() + SESSIONS_EVERY_MS;
    const ids = [...new Set(sessions.map(({ idSha256 }) => idSha256))];
    const still = await this.#store.sessions.among(ids, now);
    for (const id of ids) if (!still.has(id)) this.endSession(id);
  }

  async #look(reader: LogReader): Promise<void> {
    for (let looked = 0; looked < MOST_A_LOOK; looked += AT_ONCE) {
      const { read, isBehind } = await reader.next(AT_ONCE);
      for (const one of read) {
        this.#count(one);
        const text = lazy(() => textOf(one));
        for (const listener of this.#listeners) listener.callback(one, text);
      }
      if (!isBehind || this.#listeners.size === 0) return;
      await nextTurn();
    }
    const after = reader.place.newest;
    const [until = after] = await this.#store.callbacks.newestIds(1);
    reader.skipTo(until);
    this.#tally.callbacks += until - after;
    this.#tellAll(eventOf("gap", { after, until }, reader.place));
  }

  async #bringUp(listener: Listener, from: Place, reader: LogReader): Promise<void> {
    const [newest = 0] = await this.#store.callbacks.newestIds(1);
    if (from.newest > newest) return listener.tell(gapText({ after: null, until: newest }, reader));
    const own = new LogReader(this.#store.callbacks, from);
    let isBehind = true;
    for (let looked = 0; isBehind && looked < MOST_BROUGHT_UP; looked += AT_ONCE) {
      const next = await own.next(AT_ONCE);
      for (const one of next.read) await listener.bringUp(one, () => textOf(one));
      if (listener.gone.aborted) return;
      isBehind = next.isBehind;
    }
    listener.knows(own.place);
    const { newest: after, missing } = own.place;
    // What has still not come is looked for with all the rest.
    reader.watch(missing.filter((id) => id <= reader.place.newest));
    if (after < newest) listener.tell(gapText({ after, until: newest }, reader));
  }

  #count({ row }: ReadCallback): void {
    this.#tally.callbacks += 1;
    this.#tally.outcomes[row.outcome] = (this.#tally.outcomes[row.outcome] ?? 0) + 1;
  }

  async #tellTally(reader: LogReader): Promise<void> {
    if (performance.now() < this.#nextTallyAt) return;
    const begun = performance.now();
    const counted = this.#tally;
    this.#tally = newTally();
    this.#tellAll(eventOf("tally", await this.#newTally(counted), reader.place));
    const now = performance.now();
    // Where a million failures are counted, that is not all that the database has to do.
    this.#nextTallyAt = now + Math.max(TALLY_EVERY_MS - LOOK_EVERY_MS / 2, (now - begun) * 20);
  }

  async #newTally(counted: Counted): Promise<TallyView> {
    return { ...counted, ...(await this.#store.failures.counts()) };
  }

  #tellAll(text: string): void {
    this.#spokenAt = performance.now();
    for (const listener of this.#listeners) listener.tell(text);
  }
}

interface Counted {
  callbacks: number;
  readonly outcomes: Record<string, number>;
}

function newTally(): Counted {
  return { callbacks: 0, outcomes: {} };
}

function textOf({ row, place }: ReadCallback): string {
  return `id: ${place}\nevent: callback\ndata: ${JSON.stringify(presentCallback(row))}\n\n`;
}

function gapText(gap: GapView, { place }: LogReader): string {
  return eventOf("gap", gap, place);
}

/** The place goes with everything, so that who sees few callbacks does not come back far behind. */
function eventOf(name: "tally" | "gap", data: TallyView | GapView, place: Place): string {
  return `id: ${writePlace(place)}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function lazy(make: () => string): () => string {
  let made: string | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
