import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type CallbackFilter,
  type CallbackMatch,
  isIndexed,
  lowerAscii,
  MATCH_KINDS,
  type MatchKind,
  matchCallback,
  type SearchQuery,
  type SearchTerm,
} from "../../domain/index.ts";
import {
  type IdRange,
  type Store,
  type StoredCallback,
  uncoveredRanges,
  type ValueSegment,
} from "../../store/index.ts";

export interface FoundCallback {
  readonly row: StoredCallback;
  /** Null where the query has filters only. */
  readonly match: CallbackMatch | null;
}

/** The search goes on with rows of this kind of match whose id is below `before`. */
export interface SearchPosition {
  readonly kind: MatchKind;
  readonly before: number;
}

export interface SearchAnswer {
  /** Exact matches first, then beginnings, then texts; newest first within each. Pages follow the ids of the rows. */
  readonly found: readonly FoundCallback[];
  /** Null at the end. */
  readonly next: SearchPosition | null;
  /** When the oldest callback that was read for texts was received; null before that, and at the end. */
  readonly searchedUntil: string | null;
  /** How much of the log has been read for this kind, from 0 to 1. */
  readonly progress: number;
}

export interface SearchRequest {
  readonly query: SearchQuery;
  readonly limit: number;
  readonly from?: SearchPosition | undefined;
  /** How long it may take; it always completes a step. */
  readonly budgetMs: number;
}

type SearchedStore = Pick<Store, "callbacks" | "valueIndex">;
type IndexMatch = "exact" | "prefix";

const NEWEST = Number.MAX_SAFE_INTEGER;
/** Segments of the first look-up, and at most of any. On SQLite each takes a tenth of a millisecond. */
const [FIRST_SEGMENTS, MOST_SEGMENTS] = [2, 32];
/** Rows that are read with their bodies at a time. */
const ROWS_PER_STEP = 50;
/** A body of 64 KiB takes about a millisecond to compare: callbacks run after so long. */
const SLICE_MS = 4;
/** Characters that are the same in JSON, in a form and in an address, however these are encoded. */
const PLAIN_TEXT = /[a-z0-9._-]+/g;

/** One request of a search: as much as its limit and its time allow. */
export async function searchCallbacks(store: SearchedStore, request: SearchRequest): Promise<SearchAnswer> {
  const search = new CallbackSearch(store, request, await store.valueIndex.logRange());
  return search.run();
}

class CallbackSearch {
  readonly #store: SearchedStore;
  readonly #request: SearchRequest;
  readonly #log: IdRange;
  readonly #end: number;
  readonly #found: FoundCallback[] = [];
  /** By segment, the ids of beginnings that the look-up of whole values has met in its blocks. */
  readonly #read = new Map<number, readonly number[]>();
  #searchedUntil: string | null = null;

  constructor(store: SearchedStore, request: SearchRequest, log: IdRange) {
    this.#store = store;
    this.#request = request;
    this.#log = log;
    this.#end = performance.now() + request.budgetMs;
  }

  async run(): Promise<SearchAnswer> {
    const { query, from } = this.#request;
    const kinds = kindsOf(query);
    const term = drivingTerm(query.terms);
    for (const kind of kinds.slice(from === undefined ? 0 : Math.max(0, kinds.indexOf(from.kind)))) {
      const before = from?.kind === kind ? from.before : NEWEST;
      const reached = await this.#searchKind(kind, term, before);
      if (reached !== undefined) return this.#answer({ kind, before: reached });
      const next = kinds[kinds.indexOf(kind) + 1];
      // A page with matches is shown at once: looking for texts takes as long as reading the whole log.
      const isLong = next === "text" && this.#found.length > 0;
      if (next !== undefined && (isLong || this.#isOver())) return this.#answer(startOf(next));
    }
    return this.#answer(null);
  }

  /** @returns the id below which it goes on; undefined where all of the log has been searched */
  #searchKind(kind: MatchKind, term: SearchTerm | undefined, before: number): Promise<number | undefined> {
    const log = { from: 0, below: before };
    if (term === undefined) return this.#scan(kind, {}, log);
    // No index knows texts. A header has none, but where there are more terms, this one may be the whole of a header.
    const isOnly = this.#request.query.terms.length === 1;
    if (kind === "text" && term.match !== "value") return this.#scan(kind, placeOf(term, !isOnly), log);
    return this.#searchValues(kind, term, before);
  }

  /** Segments by their blocks, and the stretches between them row by row, newest first. */
  async #searchValues(kind: MatchKind, term: SearchTerm, before: number): Promise<number | undefined> {
    const log = { from: this.#log.from, below: Math.min(before, this.#log.below) };
    const segments = await this.#store.valueIndex.segments();
    const parts = partsOf(
      segments.filter((one) => this.#mayHold(one, log)),
      uncoveredRanges(segments, log),
    );
    const match: IndexMatch = kind === "exact" || term.match === "value" ? "exact" : "prefix";
    const isRead = (one: ValueSegment) => !isIndexed(term) || isCommon(one, term, match);
    let batch: ValueSegment[] = [];
    let most = FIRST_SEGMENTS;
    const searchBatch = async (): Promise<number | undefined> => {
      const reached = await this.#searchSegments(kind, batch, { term, match, below: log.below });
      most = Math.min(2 * most, MOST_SEGMENTS);
      batch = [];
      return reached;
    };
    for (const part of parts) {
      if ("segment" in part && !isRead(part.segment)) {
        batch.push(part.segment);
        if (batch.length < most) continue;
        const reached = await searchBatch();
        if (reached !== undefined) return reached;
      } else {
        const reached = batch.length === 0 ? undefined : await searchBatch();
        if (reached !== undefined) return reached;
        const { from, below } = part.range;
        const range = { from, below: Math.min(below, log.below) };
        const read = await this.#scan(kind, placeOf(term, true), range);
        if (read !== undefined) return read;
      }
    }
    return batch.length === 0 ? undefined : searchBatch();
  }

  #mayHold({ fromId, toId, fromTime, toTime }: ValueSegment, log: IdRange): boolean {
    const { from = fromTime, to } = this.#request.query.filter;
    return fromId < log.below && toId >= log.from && toTime >= from && (to === undefined || fromTime < to);
  }

  async #searchSegments(
    kind: MatchKind,
    segments: readonly ValueSegment[],
    { term, match, below }: { readonly term: SearchTerm; readonly match: IndexMatch; readonly below: number },
  ): Promise<number | undefined> {
    const bySegment = await this.#idsOf(segments, term, match);
    for (const { fromId } of segments) {
      const ids = [...new Set(bySegment.get(fromId) ?? [])].filter((id) => id < below).sort((a, b) => b - a);
      for (let at = 0; at < ids.length; at += ROWS_PER_STEP) {
        const step = ids.slice(at, at + ROWS_PER_STEP);
        const reached = await this.#take(kind, await this.#store.callbacks.among(step, this.#request.query.filter));
        if (reached !== undefined) return reached;
        if (this.#isOver()) return step.at(-1);
      }
      if (this.#isOver()) return fromId;
    }
    return undefined;
  }

  /** Reads each block once: beginnings mostly stand beside the whole value. */
  async #idsOf(
    segments: readonly ValueSegment[],
    { value }: SearchTerm,
    match: IndexMatch,
  ): Promise<ReadonlyMap<number, readonly number[]>> {
    const known = new Map<number, readonly number[]>();
    for (const { fromId } of match === "prefix" ? segments : []) {
      const read = this.#read.get(fromId);
      if (read !== undefined) known.set(fromId, read);
    }
    const rest = segments.filter(({ fromId }) => !known.has(fromId));
    const found = rest.length === 0 ? [] : await this.#store.valueIndex.idsOf(rest, value, match);
    for (const [segment, { exact, longer, isWhole }] of found) {
      // A row with the whole value of the only term is no beginning; of several terms another one may be.
      const beginnings = this.#request.query.terms.length === 1 ? longer : [...exact, ...longer];
      if (isWhole) this.#read.set(segment, beginnings);
      known.set(segment, match === "exact" ? exact : beginnings);
    }
    return known;
  }

  async #scan(kind: MatchKind, by: CallbackFilter, range: IdRange): Promise<number | undefined> {
    const { filter } = this.#request.query;
    for (let before = range.below; ; ) {
      const budgetMs = Math.max(0, this.#end - performance.now());
      const page = { limit: ROWS_PER_STEP, before, budgetMs, fromId: range.from };
      const { callbacks, next, searchedUntil } = await this.#store.callbacks.search({ ...filter, ...by }, page);
      const reached = await this.#take(kind, callbacks);
      if (reached !== undefined) return reached;
      if (next === null) return undefined;
      if (this.#isByText(kind)) this.#searchedUntil = searchedUntil;
      if (this.#isOver()) return next;
      before = next;
    }
  }

  /** @returns the id of the last row where the limit is reached */
  async #take(kind: MatchKind, rows: readonly StoredCallback[]): Promise<number | undefined> {
    const { query, limit } = this.#request;
    let startedAt = performance.now();
    for (const row of rows) {
      if (performance.now() - startedAt > SLICE_MS) {
        await nextTurn();
        startedAt = performance.now();
      }
      const match = query.terms.length === 0 ? null : matchCallback(row, query.terms);
      if (match === undefined || (match !== null && match.kind !== kind)) continue;
      this.#found.push({ row, match });
      if (this.#found.length < limit) continue;
      if (this.#isByText(kind)) this.#searchedUntil = row.receivedAt;
      return row.id;
    }
    return undefined;
  }

  /** Whether the whole log is walked, so that a time says how far. */
  #isByText(kind: MatchKind): boolean {
    return kind === "text" || this.#request.query.terms.length === 0;
  }

  #isOver(): boolean {
    return performance.now() >= this.#end;
  }

  #answer(next: SearchPosition | null): SearchAnswer {
    const { from, below } = this.#log;
    const progress = next === null ? 1 : below <= from ? 0 : (below - Math.min(next.before, below)) / (below - from);
    return { found: byTime(this.#found), next, searchedUntil: next === null ? null : this.#searchedUntil, progress };
  }
}

/** Rows are found by their ids. One that was stored late has a later id than others of its time. */
function byTime(found: readonly FoundCallback[]): readonly FoundCallback[] {
  const rank = ({ match }: FoundCallback) => (match === null ? 0 : MATCH_KINDS.indexOf(match.kind));
  const time = ({ row }: FoundCallback) => Date.parse(row.receivedAt);
  return found.toSorted(
    (one, other) => rank(one) - rank(other) || time(other) - time(one) || other.row.id - one.row.id,
  );
}

const startOf = (kind: MatchKind): SearchPosition => ({ kind, before: NEWEST });

/** A query of filters only is one walk along the log. */
function kindsOf({ terms }: SearchQuery): readonly MatchKind[] {
  return terms.some(({ match }) => match !== "value") ? MATCH_KINDS : ["exact"];
}

/** The term that likely finds the fewest rows. Whole values come before beginnings, long ones before short ones. */
function drivingTerm(terms: readonly SearchTerm[]): SearchTerm | undefined {
  const rank = ({ match }: SearchTerm) => (match === "value" ? 0 : match === "beginning" ? 1 : 2);
  return terms.toSorted((one, other) => rank(one) - rank(other) || other.value.length - one.value.length)[0];
}

function isCommon({ common }: ValueSegment, { value }: SearchTerm, match: IndexMatch): boolean {
  return match === "exact" ? common.includes(value) : common.some((one) => one.startsWith(value));
}

/** The longest parts that no body escapes: each row with the value has them. Without such a part all rows are read. */
function placeOf({ value }: SearchTerm, headers: boolean): CallbackFilter {
  const parts = lowerAscii(value).match(PLAIN_TEXT) ?? [];
  const [first, second] = parts.toSorted((one, other) => other.length - one.length);
  return first === undefined ? {} : { anywhere: { parts: [first, second], headers } };
}

type Part = { readonly segment: ValueSegment; readonly range: IdRange } | { readonly range: IdRange };

/** Newest first. */
function partsOf(segments: readonly ValueSegment[], uncovered: readonly IdRange[]): readonly Part[] {
  const covered = segments.map((segment) => ({ segment, range: { from: segment.fromId, below: segment.toId + 1 } }));
  return [...covered, ...uncovered.map((range) => ({ range }))].sort((a, b) => b.range.from - a.range.from);
}
