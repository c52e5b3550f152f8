import { sql } from "kysely";
import { type Claim, claimOf, firstLineOf, isRefusal, OUTCOMES, type Problem } from "../../domain/index.ts";
import { Area } from "../database.ts";
import type { AlertKey, AlertKind } from "./alerts.ts";
import { Callbacks } from "./callback-log.ts";
import { ALERT_POSITION } from "./notifications.ts";
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
  /** Of a callback, unverified. */
  readonly claim: Claim | null;
  readonly notificationId: number | null;
  /** Of the notification. */
  readonly topic: string | null;
  /** Of the notification of an alert, which belongs to no event. */
  readonly alert: AlertKey | null;
}

/** Each kind of problem fills its own. */
const NONE = { callbackId: null, claim: null, notificationId: null, topic: null, alert: null } as const;

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
    const rows = await this.read<Omit<ProblemEvent, keyof typeof NONE>>`
      SELECT id, last_failed_at AS at, source, event_id, event_type, state,
        substr(error, 1, ${sql.lit(ERROR_READ)}) AS error FROM oncehook_failures
      WHERE problem_id = ${id} AND problem_id <> '' AND id < ${before} ORDER BY id DESC LIMIT ${limit + 1}`;
    return pageOf(
      rows.map((row) => ({ ...NONE, ...row, error: firstLine(row.error) })),
      limit,
    );
  }

  private async deliveries(id: string, { limit, before = NEWEST }: SearchPage) {
    const rows = await this.read<Omit<ProblemEvent, keyof typeof NONE> & DeliveryColumns>`
      SELECT d.id, coalesce(d.scheduled_at, n.created_at) AS at, n.source, n.event_id, d.state,
        substr(d.error, 1, ${sql.lit(ERROR_READ)}) AS error, d.notification_id, n.topic,
        CASE WHEN n.position = ${sql.lit(ALERT_POSITION)} THEN n.payload END AS alert_payload,
        (SELECT r.event_type FROM oncehook_records AS r
          WHERE r.event_id = n.event_id AND r.source = n.source) AS event_type
      FROM (SELECT id, notification_id, state, error, scheduled_at FROM oncehook_deliveries
        WHERE state = 'dead' AND problem_id = ${id} AND problem_id <> '' AND id < ${before}
        ORDER BY id DESC LIMIT ${limit + 1}) AS d
      JOIN oncehook_notifications AS n ON n.id = d.notification_id ORDER BY d.id DESC`;
    return pageOf(
      rows.map(({ alertPayload, ...row }) => {
        return { ...NONE, ...row, error: firstLine(row.error), alert: alertOf(row.eventId, alertPayload) };
      }),
      limit,
    );
  }

  private async refusals({ source, since }: Pick<Problem, "source" | "since">, page: SearchPage) {
    const { callbacks, next } = await new Callbacks(this.database).search(
      { source, outcomes: REFUSALS, from: since },
      page,
    );
    const rows = callbacks.map(({ id, receivedAt, outcome, diagnosis, error, ...row }) => ({
      ...NONE,
      ...{ id, at: receivedAt, source, eventId: row.eventId, eventType: authenticType(row), state: outcome },
      ...{ error: diagnosis?.message ?? firstLine(error), callbackId: id, claim: claimOf(row) ?? null },
    }));
    return { rows, next };
  }
}

interface DeliveryColumns {
  readonly notificationId: number;
  readonly topic: string;
  readonly alertPayload: string | null;
}

/** The id names its kind; a source or a type may have slashes, so that the payload names these. */
function alertOf(eventId: string | null, payload: string | null): AlertKey | null {
  if (eventId === null || payload === null) return null;
  const { source, event_type: subject = "" } = JSON.parse(payload) as { source?: string; event_type?: string };
  return source === undefined ? null : { kind: eventId.split("/")[1] as AlertKind, source, subject };
}

/** Without an event it is only claimed. */
function authenticType({ eventId, eventType }: Pick<ProblemEvent, "eventId" | "eventType">): string | null {
  return eventId === null ? null : eventType;
}

function firstLine(error: string | null): string | null {
  return error === null ? null : firstLineOf(error);
}
