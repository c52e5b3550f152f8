import { sql } from "kysely";
import { firstLineOf, isRefusal, OUTCOMES, type Problem } from "../../domain/index.ts";
import { Area } from "../database.ts";
import { Callbacks } from "./callback-log.ts";
import { NEWEST, pageOf, type SearchPage, type SearchResult } from "./paging.ts";

/** A failure, a failed delivery or a refused callback of a problem. */
export interface ProblemEvent {
  /** Of the failure, the delivery or the callback. */
  readonly id: number;
  readonly at: string;
  readonly source: string | null;
  readonly eventId: string | null;
  readonly eventType: string | null;
  readonly state: string;
  /** The first line. */
  readonly error: string | null;
  readonly callbackId: number | null;
  readonly notificationId: number | null;
}

const ERROR_READ = 500;
const REFUSALS = OUTCOMES.filter(isRefusal);

/** The failures, deliveries or callbacks of a problem, newest first. */
export class ProblemEvents extends Area {
  search(
    problem: Pick<Problem, "id" | "kind" | "source" | "since">,
    page: SearchPage,
  ): Promise<SearchResult<ProblemEvent>> {
    if (problem.kind === "failure") return this.failures(problem.id, page);
    return problem.kind === "delivery" ? this.deliveries(problem.id, page) : this.refusals(problem, page);
  }

  private async failures(id: string, { limit, before = NEWEST }: SearchPage) {
    const rows = await this.read<Omit<ProblemEvent, "callbackId" | "notificationId">>`
      SELECT id, last_failed_at AS at, source, event_id, event_type, state,
        substr(error, 1, ${sql.lit(ERROR_READ)}) AS error FROM oncehook_failures
      WHERE problem_id = ${id} AND problem_id <> '' AND id < ${before} ORDER BY id DESC LIMIT ${limit + 1}`;
    return pageOf(
      rows.map((row) => ({ ...row, error: firstLine(row.error), callbackId: null, notificationId: null })),
      limit,
    );
  }

  private async deliveries(id: string, { limit, before = NEWEST }: SearchPage) {
    const rows = await this.read<Omit<ProblemEvent, "callbackId" | "eventType">>`
      SELECT d.id, coalesce(d.scheduled_at, n.created_at) AS at, n.source, n.event_id, d.state,
        substr(d.error, 1, ${sql.lit(ERROR_READ)}) AS error, d.notification_id
      FROM (SELECT id, notification_id, state, error, scheduled_at FROM oncehook_deliveries
        WHERE state = 'dead' AND problem_id = ${id} AND problem_id <> '' AND id < ${before}
        ORDER BY id DESC LIMIT ${limit + 1}) AS d
      JOIN oncehook_notifications AS n ON n.id = d.notification_id ORDER BY d.id DESC`;
    return pageOf(
      rows.map((row) => ({ ...row, error: firstLine(row.error), callbackId: null, eventType: null })),
      limit,
    );
  }

  private async refusals({ source, since }: Pick<Problem, "source" | "since">, page: SearchPage) {
    const { callbacks, next } = await new Callbacks(this.database).search(
      { source, outcomes: REFUSALS, from: since },
      page,
    );
    const rows = callbacks.map(({ id, receivedAt, outcome, diagnosis, error, ...row }) => ({
      ...{ id, at: receivedAt, source, eventId: row.eventId, eventType: authenticType(row), state: outcome },
      ...{ error: diagnosis?.message ?? firstLine(error), callbackId: id, notificationId: null },
    }));
    return { rows, next };
  }
}

/** Without an event it is only claimed. */
function authenticType({ eventId, eventType }: Pick<ProblemEvent, "eventId" | "eventType">): string | null {
  return eventId === null ? null : eventType;
}

function firstLine(error: string | null): string | null {
  return error === null ? null : firstLineOf(error);
}
