import { setImmediate as nextTurn } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { FAILURE_STATES, type FailureState, HOUR_MS } from "../../domain/index.ts";
import { Area } from "../database.ts";
import { NEWEST } from "./paging.ts";

/** The rows of one problem. */
export interface ProblemGroup {
  readonly id: string;
  count: number;
  /** Whether it has more than the count. */
  isAtLeast: boolean;
  readonly states: Partial<Record<FailureState, number>>;
  firstSeen: string;
  lastSeen: string;
  newest: number;
  /** Of the newest rows, by the first letters of ISO 8601. */
  readonly hours: Map<string, number>;
}

/** The rows of a table that have problems, and their times, as its index by problem has them. */
export interface GroupedRows {
  readonly table: "oncehook_failures" | "oncehook_deliveries";
  readonly where: RawBuilder<unknown>;
  readonly state: RawBuilder<unknown>;
  readonly first: RawBuilder<unknown>;
  readonly last: RawBuilder<unknown>;
}

export interface ProblemGroups {
  readonly groups: ReadonlyMap<string, ProblemGroup>;
  readonly isComplete: boolean;
}

interface CountOptions {
  readonly only?: string;
  readonly countMs: number;
}

interface GroupRow {
  readonly state: string;
  readonly hour: string;
  readonly count: number;
  readonly firstSeen: string;
  readonly lastSeen: string;
  readonly oldest: number;
  readonly newest: number;
}

interface CountRow extends Record<FailureState, number> {
  readonly rows: number;
  readonly firstSeen: string | null;
  readonly lastSeen: string | null;
  readonly oldest: number;
}

/** A group whose rows below an id are still to be counted. */
interface CutGroup {
  readonly group: ProblemGroup;
  below: number;
}

/** So many of the newest rows of a problem are read by the hour; the further ones are only counted. */
const MOST_DETAILED = 10_000;
/** A step blocks the event loop for a few milliseconds on SQLite. On PostgreSQL it costs a round trip. */
const DETAILED_A_STEP = 2_000;
/** Once the time is over, of each further problem. */
const FEWEST_DETAILED = 200;
const COUNTED_A_STEP = { sqlite: 10_000, postgres: 25_000 } as const;
/** How long rows are read in detail, and counted: of all problems, and of one. */
const DETAIL_MS = 100;
export const COUNT_MS = { all: 150, one: 60 } as const;
/** Beyond them a list helps no one. */
const MOST_PROBLEMS = 500;
export const HOURS_SHOWN = 24;

/** Counts the rows of each problem, or of one, by the index of problems. */
export class GroupedProblems extends Area {
  /** @param only the id of one problem @param countMs how long older rows are counted */
  async count(rows: GroupedRows, now: Date, { only, countMs }: CountOptions): Promise<ProblemGroups> {
    const ids = only === undefined ? await this.ids(rows) : [only];
    const groups = new Map<string, ProblemGroup>();
    const cut: CutGroup[] = [];
    const end = performance.now() + DETAIL_MS;
    for (const id of ids.slice(0, MOST_PROBLEMS)) {
      const { group, below } = await this.newest(rows, id, { now, end });
      if (group !== undefined) groups.set(id, group);
      if (group !== undefined && below !== undefined) cut.push({ group, below });
    }
    await this.countOn(rows, cut, countMs);
    return { groups, isComplete: ids.length <= MOST_PROBLEMS };
  }

  /** The problems that have rows: one seek in the index for each. */
  private async ids({ table, where }: GroupedRows): Promise<readonly string[]> {
    const next = (below: RawBuilder<unknown>) => sql`(SELECT problem_id FROM ${sql.table(table)}
      WHERE ${where} AND ${below} ORDER BY problem_id DESC LIMIT 1)`;
    const rows = await this.read<{ id: string }>`WITH RECURSIVE found (id) AS (
        SELECT ${next(sql`problem_id > ''`)} UNION ALL
        SELECT ${next(sql`problem_id < found.id`)} FROM found WHERE found.id IS NOT NULL)
      SELECT id FROM found WHERE id IS NOT NULL LIMIT ${sql.lit(MOST_PROBLEMS + 1)}`;
    return rows.map(({ id }) => id);
  }

  /**
   * Walks back along a problem's part of the index, in steps with a turn of the event loop between.
   * @returns `below`: where its older rows begin; undefined where all have been read
   */
  private async newest(
    { table, where, state, first, last }: GroupedRows,
    id: string,
    { now, end }: { readonly now: Date; readonly end: number },
  ): Promise<{ readonly group: ProblemGroup | undefined; readonly below?: number }> {
    const since = new Date(now.getTime() - HOURS_SHOWN * HOUR_MS);
    const hour = sql`CASE WHEN seen_at < ${since} THEN '' ELSE ${this.hourOf()} END`;
    let group: ProblemGroup | undefined;
    let below = NEWEST;
    for (let read = 0; ; ) {
      const isLate = performance.now() > end;
      const step = isLate ? FEWEST_DETAILED : DETAILED_A_STEP;
      const rows = await this
        .read<GroupRow>`SELECT state, ${hour} AS hour, count(*) AS count, min(seen_at) AS first_seen,
          max(last_at) AS last_seen, min(id) AS oldest, max(id) AS newest
        FROM (SELECT id, ${state} AS state, ${first} AS seen_at, ${last} AS last_at FROM ${sql.table(table)}
          WHERE ${where} AND problem_id = ${id} AND id < ${below} ORDER BY id DESC LIMIT ${sql.lit(step)}) AS step
        GROUP BY 1, 2`;
      for (const row of rows) group = added(group, id, row);
      const ofStep = rows.reduce((sum, { count }) => sum + count, 0);
      if (ofStep < step) return { group };
      below = Math.min(...rows.map(({ oldest }) => oldest));
      read += ofStep;
      if (isLate || read >= MOST_DETAILED) return { group, below };
      await nextTurn();
    }
  }

  /** Counts their further rows in turn while there is time, so that short ones come to their end. */
  private async countOn(rows: GroupedRows, cut: readonly CutGroup[], budgetMs: number): Promise<void> {
    const end = performance.now() + budgetMs;
    let left = [...cut];
    while (left.length > 0 && performance.now() < end) {
      const goingOn: CutGroup[] = [];
      for (const one of left) {
        if (performance.now() > end || (await this.countStep(rows, one))) goingOn.push(one);
        await nextTurn();
      }
      left = goingOn;
    }
    for (const { group, below } of left) {
      group.isAtLeast = true;
      const [oldest] = await this.read<{ firstSeen: string }>`
        SELECT seen_at AS first_seen FROM (${older(rows, { id: group.id, below }, sql`ASC LIMIT 1`)}) AS oldest`;
      if (oldest !== undefined && oldest.firstSeen < group.firstSeen) group.firstSeen = oldest.firstSeen;
    }
  }

  /** @returns whether there may be more */
  private async countStep(rows: GroupedRows, one: CutGroup): Promise<boolean> {
    const step = COUNTED_A_STEP[this.database.dialect];
    const ofState = FAILURE_STATES.map(
      (name) => sql`count(*) FILTER (WHERE state = ${sql.lit(name)}) AS ${sql.ref(name)}`,
    );
    const next = older(rows, { id: one.group.id, below: one.below }, sql`DESC LIMIT ${sql.lit(step)}`);
    const [row] = await this.read<CountRow>`SELECT count(*) AS rows, ${sql.join(ofState)},
      min(seen_at) AS first_seen, max(last_at) AS last_seen, min(id) AS oldest FROM (${next}) AS step`;
    if (row === undefined || row.rows === 0) return false;
    addCount(one.group, row);
    one.below = row.oldest;
    return row.rows === step;
  }

  /** The hour of a time, as the first letters of ISO 8601. */
  private hourOf(): RawBuilder<unknown> {
    if (this.database.dialect === "sqlite") return sql`substr(seen_at, 1, 13)`;
    return sql`to_char(seen_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24')`;
  }
}

/** The rows of a problem below an id, as its index has them. */
function older(
  { table, where, state, first, last }: GroupedRows,
  { id, below }: { readonly id: string; readonly below: number },
  order: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`SELECT id, ${state} AS state, ${first} AS seen_at, ${last} AS last_at FROM ${sql.table(table)}
    WHERE ${where} AND problem_id = ${id} AND id < ${below} ORDER BY id ${order}`;
}

function added(was: ProblemGroup | undefined, id: string, row: GroupRow): ProblemGroup | undefined {
  const { state, hour, count, firstSeen, lastSeen, newest } = row;
  // An accepted event has failed at no attempt since it was delivered again.
  if (state === "accepted") return was;
  const group: ProblemGroup = was ?? {
    id,
    count: 0,
    isAtLeast: false,
    states: {},
    firstSeen,
    lastSeen,
    newest,
    hours: new Map(),
  };
  group.count += count;
  if (isFailureState(state)) group.states[state] = (group.states[state] ?? 0) + count;
  if (firstSeen < group.firstSeen) group.firstSeen = firstSeen;
  if (lastSeen > group.lastSeen) group.lastSeen = lastSeen;
  if (newest > group.newest) group.newest = newest;
  if (hour !== "") group.hours.set(hour, (group.hours.get(hour) ?? 0) + count);
  return group;
}

function addCount(group: ProblemGroup, { rows, firstSeen, lastSeen, ...row }: CountRow): void {
  group.count += rows - row.accepted;
  for (const state of FAILURE_STATES) {
    if (state === "accepted" || row[state] === 0) continue;
    group.states[state] = (group.states[state] ?? 0) + row[state];
  }
  if (firstSeen !== null && firstSeen < group.firstSeen) group.firstSeen = firstSeen;
  if (lastSeen !== null && lastSeen > group.lastSeen) group.lastSeen = lastSeen;
}

function isFailureState(state: string): state is FailureState {
  return FAILURE_STATES.includes(state as FailureState);
}
