import { setImmediate as nextTurn } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { type FailureState, HOUR_MS, type Problem, type ProblemState, sourceOf } from "../../domain/index.ts";
import { Area, type IdRow, idIn } from "../database.ts";
import { deliveryProblemId, failureProblemId, refusalProblemId } from "./problem-id.ts";
import { ProblemStates } from "./problem-states.ts";
import { RefusedSources } from "./refused-sources.ts";

export interface ProblemList {
  /** The open ones, the most frequent first, then those resolved last. */
  readonly problems: readonly (Problem & ProblemState)[];
  /** False where there were more rows or causes than one look reads; the next one goes on with naming them. */
  readonly isComplete: boolean;
}

/** A step blocks the event loop for a few milliseconds. */
const ROWS_A_STEP = 10_000;
const NAMED_A_STEP = 500;
const NAMING_MS = 250;
const COUNTING_MS = 3_000;
/** Beyond them a list helps no one. */
const MOST_PROBLEMS = 500;
const HOURS = 24;
/** A stack is cut: only its first lines name the place. */
const ERROR_READ = 4_000;
const TITLE_LENGTH = 200;
/** The conditions of the indexes, word for word. */
const UNNAMED_FAILURES = sql`problem_id = '' AND state <> 'accepted'`;
const DEAD = sql`state = 'dead'`;

interface Group {
  readonly id: string;
  count: number;
  readonly states: Partial<Record<FailureState, number>>;
  firstSeen: string;
  lastSeen: string;
  newest: number;
  readonly hours: Map<string, number>;
}

interface GroupRow {
  readonly problemId: string;
  readonly state: FailureState;
  readonly hour: string;
  readonly count: number;
  readonly firstSeen: string;
  readonly lastSeen: string;
  readonly newest: number;
}

/** The rows of a table that have problems, and their times, as its index by problem has them. */
interface GroupedRows {
  readonly table: "oncehook_failures" | "oncehook_deliveries";
  readonly where: RawBuilder<unknown>;
  readonly first: RawBuilder<unknown>;
  readonly last: RawBuilder<unknown>;
}

const FAILURES: GroupedRows = {
  table: "oncehook_failures",
  where: sql`problem_id <> ''`,
  first: sql`first_failed_at`,
  last: sql`last_failed_at`,
};
/** The last attempt of a delivery, which is the only time that it keeps. */
function deadDeliveries(now: Date): GroupedRows {
  const at = sql`coalesce(scheduled_at, ${now})`;
  return { table: "oncehook_deliveries", where: sql`${DEAD} AND problem_id <> ''`, first: at, last: at };
}

export class Problems extends Area {
  /** Counts what is wrong now, and notes which problems are new, have come again or are resolved. */
  async list(now: Date): Promise<ProblemList> {
    const isNamed = await this.name();
    const failures = await this.groups(FAILURES, now);
    const deliveries = await this.groups(deadDeliveries(now), now);
    const open = [
      ...(await this.ofFailures(failures.groups, now)),
      ...(await this.ofRefusals(now)),
      ...(await this.ofDeliveries(deliveries.groups, now)),
    ].sort((one, other) => other.count - one.count);
    const isComplete = isNamed && failures.isComplete && deliveries.isComplete;
    return { problems: await new ProblemStates(this.database).sync(open, isComplete, now), isComplete };
  }

  /** Names the problems of failed deliveries, and of rows of an earlier version. @returns whether all rows have one */
  async name(budgetMs = NAMING_MS): Promise<boolean> {
    const end = performance.now() + budgetMs;
    for (;;) {
      const named = (await this.nameFailures()) + (await this.nameDeliveries());
      if (named === 0) return true;
      if (performance.now() > end) return false;
      await nextTurn();
    }
  }

  private async nameFailures(): Promise<number> {
    const rows = await this.read<IdRow & Parameters<typeof failureProblemId>[0]>`
      SELECT id, source, event_type, code, substr(error, 1, ${sql.lit(ERROR_READ)}) AS error FROM oncehook_failures
      WHERE ${UNNAMED_FAILURES} AND id > 0 ORDER BY id LIMIT ${sql.lit(NAMED_A_STEP)}`;
    const byProblem = Map.groupBy(rows, failureProblemId);
    for (const [id, ofIt] of byProblem)
      await this.write`UPDATE oncehook_failures SET problem_id = ${id}
        WHERE ${idIn(
          this.database.dialect,
          ofIt.map((row) => row.id),
        )} AND ${UNNAMED_FAILURES}`;
    return rows.length;
  }

  private async nameDeliveries(): Promise<number> {
    const rows = await this.read<IdRow & { readonly channel: string; readonly error: string }>`
      SELECT id, channel, substr(coalesce(error, ''), 1, ${sql.lit(ERROR_READ)}) AS error FROM oncehook_deliveries
      WHERE ${DEAD} AND problem_id = '' AND id > 0 ORDER BY id LIMIT ${sql.lit(NAMED_A_STEP)}`;
    const byProblem = Map.groupBy(rows, deliveryProblemId);
    for (const [id, ofIt] of byProblem)
      await this.write`UPDATE oncehook_deliveries SET problem_id = ${id}
        WHERE ${idIn(
          this.database.dialect,
          ofIt.map((row) => row.id),
        )} AND ${DEAD} AND problem_id = ''`;
    return rows.length;
  }

  /** Walks along the index by problem in steps, with a turn of the event loop between. */
  private async groups({ table, where, first, last }: GroupedRows, now: Date) {
    const groups = new Map<string, Group>();
    const end = performance.now() + COUNTING_MS;
    const state = table === "oncehook_failures" ? sql`state` : sql`'dead' AS state`;
    const since = new Date(now.getTime() - HOURS * HOUR_MS);
    const hour = sql`CASE WHEN seen_at < ${since} THEN '' ELSE ${this.hourOf()} END`;
    let [problem, id] = ["", 0];
    for (;;) {
      const rows = await this.read<GroupRow>`SELECT problem_id, state, ${hour} AS hour, count(*) AS count,
          min(seen_at) AS first_seen, max(last_at) AS last_seen, max(id) AS newest
        FROM (SELECT problem_id, id, ${state}, ${first} AS seen_at, ${last} AS last_at FROM ${sql.table(table)}
          WHERE ${where} AND (problem_id, id) > (${problem}, ${id})
          ORDER BY problem_id, id LIMIT ${sql.lit(ROWS_A_STEP)}) AS step
        GROUP BY 1, 2, 3`;
      for (const row of rows) addTo(groups, row);
      const read = rows.reduce((sum, { count }) => sum + count, 0);
      if (read < ROWS_A_STEP) return { groups, isComplete: true };
      // Ids hold digits and small letters only, which every collation sorts alike.
      problem = rows.reduce((most, row) => (row.problemId > most ? row.problemId : most), "");
      id = Math.max(...rows.filter((row) => row.problemId === problem).map(({ newest }) => newest));
      if (performance.now() > end || groups.size > MOST_PROBLEMS) return { groups, isComplete: false };
      await nextTurn();
    }
  }

  /** The hour of a time, as the first letters of ISO 8601. */
  private hourOf(): RawBuilder<unknown> {
    if (this.database.dialect === "sqlite") return sql`substr(seen_at, 1, 13)`;
    return sql`to_char(seen_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24')`;
  }

  private async ofFailures(groups: ReadonlyMap<string, Group>, now: Date): Promise<Problem[]> {
    const found = [...groups.values()];
    if (found.length === 0) return [];
    const newest = await this.read<
      IdRow & Parameters<typeof failureProblemId>[0] & { readonly eventId: string; readonly problemId: string }
    >`SELECT id, source, event_id, event_type, code, problem_id, substr(error, 1, ${sql.lit(ERROR_READ)}) AS error
      FROM oncehook_failures WHERE ${idIn(
        this.database.dialect,
        found.map((group) => group.newest),
      )}`;
    return newest.flatMap(({ source, eventId, eventType, code, error, problemId }) => {
      const group = groups.get(problemId);
      if (group === undefined) return [];
      const name = sourceOf({ source });
      const isRejected = (group.states.rejected ?? 0) === group.count;
      const title = `${eventType || "unread callbacks"} of ${name} ${isRejected ? "rejected" : "failed"}: ${firstLine(error)}`;
      return {
        ...{ ...common(group, now), kind: "failure", source: name, eventType, code, title },
        example: { source, eventId, notificationId: null },
        remedy: FAILURE_REMEDY,
      } satisfies Problem;
    });
  }

  private async ofRefusals(now: Date): Promise<Problem[]> {
    const refused = await new RefusedSources(this.database).list(now);
    return refused.map(({ source, count, since, lastSeen, outcome, remedy, hourly, title }) => ({
      ...{ id: refusalProblemId(source), kind: "refusal", source, eventType: null, code: outcome, count, states: {} },
      ...{ title, firstSeen: since, lastSeen, since, example: null, remedy, hourly },
    }));
  }

  private async ofDeliveries(groups: ReadonlyMap<string, Group>, now: Date): Promise<Problem[]> {
    const found = [...groups.values()];
    if (found.length === 0) return [];
    const newest = await this.read<{
      readonly problemId: string;
      readonly channel: string;
      readonly error: string;
      readonly notificationId: number;
      readonly source: string;
      readonly eventId: string;
    }>`SELECT d.problem_id, d.channel, substr(coalesce(d.error, ''), 1, ${sql.lit(ERROR_READ)}) AS error,
        d.notification_id, n.source, n.event_id
      FROM oncehook_deliveries AS d JOIN oncehook_notifications AS n ON n.id = d.notification_id
      WHERE d.id IN (SELECT id FROM oncehook_deliveries
        WHERE ${idIn(
          this.database.dialect,
          found.map((group) => group.newest),
        )})`;
    return newest.flatMap(({ problemId, channel, error, source, eventId, notificationId }) => {
      const group = groups.get(problemId);
      if (group === undefined) return [];
      return {
        ...{ ...common(group, now), kind: "delivery", source: channel, eventType: null, code: "delivery_failed" },
        title: `Notifications by ${channel} could not be delivered: ${firstLine(error)}`,
        example: { source, eventId, notificationId },
        remedy: DELIVERY_REMEDY,
      } satisfies Problem;
    });
  }
}

const FAILURE_REMEDY = "Mend the cause, make a dry run of one event, then replay them all, or discard them.";
const DELIVERY_REMEDY = "Mend the channel, then deliver them all again.";

function addTo(groups: Map<string, Group>, row: GroupRow): void {
  const { problemId: id, state, hour, count, firstSeen, lastSeen, newest } = row;
  // An accepted event has failed at no attempt since it was delivered again.
  if (state === "accepted") return;
  const group: Group = groups.get(id) ?? { id, count: 0, states: {}, firstSeen, lastSeen, newest, hours: new Map() };
  groups.set(id, group);
  group.count += count;
  group.states[state] = (group.states[state] ?? 0) + count;
  if (firstSeen < group.firstSeen) group.firstSeen = firstSeen;
  if (lastSeen > group.lastSeen) group.lastSeen = lastSeen;
  if (newest > group.newest) group.newest = newest;
  if (hour !== "") group.hours.set(hour, (group.hours.get(hour) ?? 0) + count);
}

function common({ id, count, states, firstSeen, lastSeen, hours }: Group, now: Date) {
  const hourly = Array.from({ length: HOURS }, (_, index) => {
    const at = new Date(now.getTime() - (HOURS - 1 - index) * HOUR_MS);
    return hours.get(at.toISOString().slice(0, 13)) ?? 0;
  });
  return { id, count, states, firstSeen, lastSeen, since: firstSeen, hourly };
}

function firstLine(error: string): string {
  const [line = ""] = error.split("\n", 1);
  return line.length > TITLE_LENGTH ? `${line.slice(0, TITLE_LENGTH)}…` : line;
}
