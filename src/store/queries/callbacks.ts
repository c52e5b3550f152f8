import { setImmediate as nextTurn } from "node:timers/promises";
import { type Selectable, sql } from "kysely";
import type { CallbackFilter } from "../../domain/index.ts";
import type { CallbackSearch, CallbackStore, FoundCallbacks, LoggedCallback } from "../callback-store.ts";
import type { CallbackRow } from "../tables.ts";
import type { Access } from "./access.ts";
import { idsBetween, noteLate } from "./callback-times.ts";
import { amongIds, walkFor } from "./callback-walks.ts";
import { isoTime, toLoggedCallback } from "./rows.ts";

const TABLE = "oncehook_callbacks";
/** Bodies may be long, so that a search begins with few rows, and takes more at a time as long as that is quick. */
const STEPS = { first: 64, most: 20_000 } as const;
/** A long body takes SQLite half a millisecond to compare with a text, and after a thousand short ones there may be long ones. */
const STEPS_WITH_BODIES = { first: 4, most: 32 } as const;
/** On SQLite a step holds everybody up while it runs; PostgreSQL holds nobody up, and each question takes its time. */
const STEP_MS = { sqlite: 4, postgres: 25 } as const;

/** The requests of `CallbackStore`, in SQL that both databases speak. */
export function callbackQueries(access: Access): CallbackStore {
  return {
    search: (filter, request) => search(access, filter, request),
    noteLate: (oldest, now) => noteLate(access, oldest, now),
    async get(id) {
      const row = await access.read.selectFrom(TABLE).selectAll().where("id", "=", id).executeTakeFirst();
      return row === undefined ? undefined : toLoggedCallback(row);
    },
    async after(id, limit) {
      const query = access.read.selectFrom(TABLE).selectAll().where("id", ">", id);
      return (await query.orderBy("id").limit(limit).execute()).map(toLoggedCallback);
    },
    async among(ids) {
      if (ids.length === 0) return [];
      const { rows } = await sql<Selectable<CallbackRow>>`SELECT * FROM oncehook_callbacks
        WHERE ${amongIds(access.dialect, ids)}`.execute(access.read);
      return rows.map(toLoggedCallback).sort((a, b) => a.id - b.id);
    },
    async newestIds(limit) {
      const query = access.read.selectFrom(TABLE).select("id").orderBy("id", "desc").limit(limit);
      return (await query.execute()).map(({ id }) => Number(id));
    },
  };
}

/**
 * Looks at the rows from the newest on, a step at a time with a turn of the event loop between, until it has found enough, has
 * come to the end, or its time is over.
 */
async function search(
  access: Access,
  filter: CallbackFilter,
  { limit, before = Number.MAX_SAFE_INTEGER, budgetMs }: CallbackSearch,
): Promise<FoundCallbacks> {
  const end = performance.now() + budgetMs;
  const range = await idsBetween(access, filter, before);
  const walk = walkFor(access, filter, range.from);
  const found: LoggedCallback[] = [];
  const { first, most } =
    access.dialect === "sqlite" && filter.text !== undefined ? STEPS_WITH_BODIES : STEPS;
  let { below } = range;
  for (let step: number = first; ; ) {
    const begun = performance.now();
    // One more than asked for tells whether there is another page.
    const { rows, reached } = await walk(below, step, limit + 1 - found.length);
    found.push(...rows.map(toLoggedCallback));
    if (found.length > limit) return fullPage(found.slice(0, limit));
    if (reached === undefined) return { callbacks: found, next: null, searchedUntil: null };
    below = reached;
    const now = performance.now();
    if (now >= end) return { callbacks: found, next: below, searchedUntil: await timeOf(access, below) };
    step = Math.min(nextStep(step, now - begun, STEP_MS[access.dialect]), most);
    await nextTurn();
  }
}

function fullPage(callbacks: readonly LoggedCallback[]): FoundCallbacks {
  const last = callbacks.at(-1);
  return { callbacks, next: last?.id ?? null, searchedUntil: last?.receivedAt ?? null };
}

function nextStep(step: number, took: number, wanted: number): number {
  if (took > wanted) return Math.max(1, Math.floor(step / 2));
  return took < wanted / 2 ? step * 2 : step;
}

/** Null where the row has been deleted meanwhile. */
async function timeOf({ read }: Access, id: number): Promise<string | null> {
  const row = await read.selectFrom(TABLE).select("received_at").where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : isoTime(row.received_at);
}
