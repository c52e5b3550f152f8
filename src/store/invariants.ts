/** What must hold between the rows of a database at any instant, whatever has happened to the processes before it. */
export interface Invariant {
  readonly name: string;
  readonly says: string;
  /**
   * Selects what breaks it, as the column `what`; nothing where all is well. The same text for both databases. `@since` stands
   * for a time that no retention reaches: what is younger has not been deleted.
   */
  readonly select: string;
}

/** One invariant, held against a database. */
export interface CheckedInvariant {
  readonly name: string;
  readonly says: string;
  /** How many rows break it. */
  readonly broken: number;
  /** Some of them. */
  readonly examples: readonly string[];
}

/** So many of what breaks one are named. */
export const EXAMPLES = 5;

/** Rows go by their age, so that what names another row may outlive it; only what is young must have it. */
export const INVARIANTS: readonly Invariant[] = [
  {
    name: "records-completed",
    says: "a record that can be seen is completed, and has its result",
    select: `SELECT event_id AS what FROM oncehook_records
      WHERE status <> 'completed' OR processed_at IS NULL OR result IS NULL OR result NOT LIKE '{%}'`,
  },
  {
    name: "one-success",
    says: "no event was answered success twice",
    select: `SELECT event_id AS what FROM oncehook_callbacks
      WHERE outcome = 'success' AND event_id IS NOT NULL GROUP BY source, event_id HAVING count(*) > 1`,
  },
  {
    name: "log-of-record",
    says: "the row of the log that was written with a record is there, and says success",
    select: `SELECT r.event_id AS what FROM oncehook_records r LEFT JOIN oncehook_callbacks c ON c.id = r.callback_id
      WHERE r.callback_id IS NOT NULL AND (
        (c.id IS NULL AND r.created_at > @since)
        OR c.event_id <> r.event_id OR c.source <> r.source OR c.outcome <> 'success')`,
  },
  {
    name: "record-of-log",
    says: "a row of the log that was written with a record has that record",
    select: `SELECT c.event_id AS what FROM oncehook_callbacks c LEFT JOIN oncehook_records r ON r.callback_id = c.id
      WHERE c.with_record = 1 AND r.id IS NULL`,
  },
  {
    name: "failures-open",
    says: "no event that has a record is kept as a failure that nobody will retry",
    select: `SELECT f.event_id AS what FROM oncehook_failures f
      JOIN oncehook_records r ON r.event_id = f.event_id AND r.source = f.source WHERE f.state = 'exhausted'`,
  },
  {
    name: "failures-scheduled",
    says: "a failure that waits has a time for its retry, and one that is exhausted has none",
    select: `SELECT event_id AS what FROM oncehook_failures
      WHERE (state = 'waiting' AND next_attempt_at IS NULL) OR (state = 'exhausted' AND next_attempt_at IS NOT NULL)`,
  },
  {
    name: "notifications-of-records",
    says: "a notification, other than an alert, belongs to an event that has a record",
    select: `SELECT n.event_id AS what FROM oncehook_notifications n
      LEFT JOIN oncehook_records r ON r.event_id = n.event_id AND r.source = n.source
      WHERE r.id IS NULL AND n.position > 0 AND n.created_at > @since`,
  },
  {
    name: "notifications-once",
    says: "no notification of an event is there twice",
    select: `SELECT event_id AS what FROM oncehook_notifications
      GROUP BY source, event_id, position HAVING count(*) > 1`,
  },
  {
    name: "deliveries-spread",
    says: "a notification that has deliveries is marked as given to its channels",
    select: `SELECT n.event_id AS what FROM oncehook_notifications n
      WHERE n.spread_at IS NULL AND EXISTS (SELECT 1 FROM oncehook_deliveries d WHERE d.notification_id = n.id)`,
  },
  {
    name: "deliveries-timed",
    says: "a delivery has a time of delivery when it is delivered, and only then",
    select: `SELECT CAST(notification_id AS text) || ' ' || channel AS what FROM oncehook_deliveries
      WHERE (state = 'delivered' AND delivered_at IS NULL) OR (state <> 'delivered' AND delivered_at IS NOT NULL)`,
  },
];

/** The shortest retention is a day. */
const YOUNG_MS = 12 * 3_600_000;

/** In ISO 8601. */
export function aWhileAgo(): string {
  return new Date(Date.now() - YOUNG_MS).toISOString();
}

/** Counts what breaks an invariant, and names some of it. @param since in ISO 8601 */
export function counting({ select }: Invariant, since: string): string {
  const found = select.replaceAll("@since", `'${since}'`);
  return `SELECT what, count(*) OVER () AS broken FROM (${found}) AS found LIMIT ${EXAMPLES}`;
}

export function toCheckedInvariant(
  { name, says }: Invariant,
  rows: readonly Readonly<Record<string, unknown>>[],
): CheckedInvariant {
  return { name, says, broken: Number(rows[0]?.broken ?? 0), examples: rows.map(({ what }) => String(what)) };
}
