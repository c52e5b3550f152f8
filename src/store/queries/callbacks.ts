import { type Selectable, sql } from "kysely";
import type { CallbackFilter } from "../../domain/index.ts";
import type { CallbackStore, FoundCallbacks } from "../callback-store.ts";
import type { Search } from "../page.ts";
import type { CallbackRow } from "../tables.ts";
import type { Access } from "./access.ts";
import { boundedWalk, type Steps } from "./bounded-walk.ts";
import { idsBetween, noteLate } from "./callback-times.ts";
import { amongIds, walkFor } from "./callback-walks.ts";
import { boundRefused } from "./refused-bytes.ts";
import { isoTime, toLoggedCallback } from "./rows.ts";

const TABLE = "oncehook_callbacks";
/** Bodies may be long, so that a search begins with few rows, and takes more at a time as long as that is quick. */
const STEPS: Steps = { first: 64, most: 20_000 };
/** A long body takes SQLite half a millisecond to compare with a text, and after a thousand short ones there may be long ones. */
const STEPS_WITH_BODIES: Steps = { first: 4, most: 32 };

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
    boundRefused: (mostBytes) => boundRefused(access, mostBytes),
    async newestIds(limit) {
      const query = access.read.selectFrom(TABLE).select("id").orderBy("id", "desc").limit(limit);
      return (await query.execute()).map(({ id }) => Number(id));
    },
  };
}

async function search(
  access: Access,
  filter: CallbackFilter,
  { limit, before = Number.MAX_SAFE_INTEGER, budgetMs }: Search,
): Promise<FoundCallbacks> {
  const begun = performance.now();
  const range = await idsBetween(access, filter, before);
  const steps = access.dialect === "sqlite" && filter.text !== undefined ? STEPS_WITH_BODIES : STEPS;
  const left = { limit, before: range.below, budgetMs: budgetMs - (performance.now() - begun) };
  const { rows, next } = await boundedWalk(access.dialect, steps, left, walkFor(access, filter, range.from));
  const callbacks = rows.map(toLoggedCallback);
  if (next === null) return { callbacks, next, searchedUntil: null };
  const last = callbacks.at(-1);
  const searchedUntil = last?.id === next ? last.receivedAt : await timeOf(access, next);
  return { callbacks, next, searchedUntil };
}

/** Null where the row has been deleted meanwhile. */
async function timeOf({ read }: Access, id: number): Promise<string | null> {
  const row = await read.selectFrom(TABLE).select("received_at").where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : isoTime(row.received_at);
}
