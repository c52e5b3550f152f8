import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import { HOUR_MS, type Problem, type ProblemState, sourceOf, withoutTenant } from "../../domain/index.ts";
import { Area, type IdRow, idIn } from "../database.ts";
import {
  COUNT_MS,
  GroupedProblems,
  type GroupedRows,
  HOURS_SHOWN,
  type ProblemGroup,
  type ProblemGroups,
} from "./problem-groups.ts";
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
const NAMED_A_STEP = 500;
const NAMING_MS = 250;
/** A stack is cut: only its first lines name the place. */
const ERROR_READ = 4_000;
const TITLE_LENGTH = 200;
/** The conditions of the indexes, word for word. */
const UNNAMED_FAILURES = sql`problem_id = '' AND state <> 'accepted'`;
const DEAD = sql`state = 'dead'`;

const FAILURES: GroupedRows = {
  table: "oncehook_failures",
  where: sql`problem_id <> ''`,
  state: sql`state`,
  first: sql`first_failed_at`,
  last: sql`last_failed_at`,
};
/** The last attempt of a delivery, which is the only time that it keeps. */
function deadDeliveries(now: Date): GroupedRows {
  const at = sql`coalesce(scheduled_at, ${now})`;
  const where = sql`${DEAD} AND problem_id <> ''`;
  return { table: "oncehook_deliveries", where, state: sql`'dead'`, first: at, last: at };
}

export class Problems extends Area {
  /** Counts what is wrong now, and notes which problems are new, have come again or are resolved. */
  async list(now: Date, countMs: number = COUNT_MS.all): Promise<ProblemList> {
    const isNamed = await this.name();
    const groups = new GroupedProblems(this.database);
    const failures = await groups.count(FAILURES, now, { countMs });
    const deliveries = await groups.count(deadDeliveries(now), now, { countMs });
    const open = [
      ...(await this.ofFailures(failures.groups, now)),
      ...(await this.ofRefusals(now)),
      ...(await this.ofDeliveries(deliveries.groups, now)),
    ].sort((one, other) => other.count - one.count);
    const isComplete = isNamed && failures.isComplete && deliveries.isComplete;
    return { problems: await new ProblemStates(this.database).sync(open, isComplete, now), isComplete };
  }

  /** One problem as a list has it; only its rows are counted. Undefined where it was never open, or is forgotten. */
  async get(id: string, now: Date, countMs: number = COUNT_MS.one): Promise<(Problem & ProblemState) | undefined> {
    const isComplete = await this.name();
    return new ProblemStates(this.database).syncOne(id, await this.open({ only: id, countMs }, now), {
      isComplete,
      now,
    });
  }

  private async open(one: { readonly only: string; readonly countMs: number }, now: Date) {
    const groups = new GroupedProblems(this.database);
    const failures = await groups.count(FAILURES, now, one);
    if (failures.groups.size > 0) return (await this.ofFailures(failures.groups, now))[0];
    const deliveries = await groups.count(deadDeliveries(now), now, one);
    if (deliveries.groups.size > 0) return (await this.ofDeliveries(deliveries.groups, now))[0];
    return (await this.ofRefusals(now)).find((refusal) => refusal.id === one.only);
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

  private async ofFailures(groups: ProblemGroups["groups"], now: Date): Promise<Problem[]> {
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
      const title = `${eventType || "unread callbacks"} of ${withoutTenant(source)} ${isRejected ? "rejected" : "failed"}: ${firstLine(error)}`;
      return {
        ...{ ...common(group, now), kind: "failure", source: name, eventType, code, title },
        example: { source, eventId, notificationId: null },
        remedy: FAILURE_REMEDY,
      } satisfies Problem;
    });
  }

  private async ofRefusals(now: Date): Promise<Problem[]> {
    const refused = await new RefusedSources(this.database).list(now);
    return refused.map(({ source, count, since, firstSeen, lastSeen, outcome, remedy, hourly, title }) => ({
      ...{ id: refusalProblemId(source), kind: "refusal", source, eventType: null, code: outcome, count, states: {} },
      isAtLeast: false,
      ...{ title, firstSeen, lastSeen, since, example: null, remedy, hourly },
    }));
  }

  private async ofDeliveries(groups: ProblemGroups["groups"], now: Date): Promise<Problem[]> {
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
        title: `Notifications by ${channel} could not be delivered: ${firstLine(withoutClass(error))}`,
        example: { source, eventId, notificationId },
        remedy: error.startsWith("PermanentDeliveryError") ? GONE_REMEDY : DELIVERY_REMEDY,
      } satisfies Problem;
    });
  }
}

const FAILURE_REMEDY = "Fix the cause, make a dry run of one event, then replay them all.";
const DELIVERY_REMEDY = "Check the address and the credentials of the channel, then deliver them all again.";
/** Delivered to the same address again, they would all fail again. */
const GONE_REMEDY =
  "The endpoint refuses them for good: check the address of the channel in the configuration, then deliver them all again.";

function common({ id, count, isAtLeast, states, firstSeen, lastSeen, hours }: ProblemGroup, now: Date) {
  const hourly = Array.from({ length: HOURS_SHOWN }, (_, index) => {
    const at = new Date(now.getTime() - (HOURS_SHOWN - 1 - index) * HOUR_MS);
    return hours.get(at.toISOString().slice(0, 13)) ?? 0;
  });
  return { id, count, isAtLeast, states, firstSeen, lastSeen, since: firstSeen, hourly };
}

/** Classes of the channels repeat what the title says. Those of other errors are a part of the reason. */
function withoutClass(error: string): string {
  return error.replace(/^(?:PermanentDelivery|DeliveryPostponed)?Error: /, "");
}

function firstLine(error: string): string {
  const [line = ""] = error.split("\n", 1);
  return line.length > TITLE_LENGTH ? `${line.slice(0, TITLE_LENGTH)}…` : line;
}
