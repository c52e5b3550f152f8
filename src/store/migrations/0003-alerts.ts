import type { SchemaStep } from "./schema-step.ts";

/**
 * What alerts are judged by, and what has been told. A slot is five minutes, numbered from the epoch; a subject is an event
 * type, or one of the other counts that `ArrivalSubject` names.
 */
export const alerts: SchemaStep = {
  number: 3,
  name: "alerts",
  statements: ({ time, bigint }) => [
    `CREATE TABLE oncehook_arrivals (
      source text NOT NULL,
      subject text NOT NULL,
      slot ${bigint} NOT NULL,
      count ${bigint} NOT NULL,
      PRIMARY KEY (source, subject, slot)
    )`,
    // Since when there is a history, and when the last one came, without a look at the counts.
    `CREATE TABLE oncehook_arrival_subjects (
      source text NOT NULL,
      subject text NOT NULL,
      first_slot ${bigint} NOT NULL,
      last_slot ${bigint} NOT NULL,
      PRIMARY KEY (source, subject)
    )`,
    // `number` grows with each change: of two processes that judge the same state, one changes it and tells.
    `CREATE TABLE oncehook_alerts (
      kind text NOT NULL,
      source text NOT NULL,
      subject text NOT NULL,
      is_open smallint NOT NULL,
      number integer NOT NULL,
      since ${time} NOT NULL,
      told integer NOT NULL,
      told_at ${time} NOT NULL,
      PRIMARY KEY (kind, source, subject)
    )`,
    `CREATE TABLE oncehook_alert_turns (name text PRIMARY KEY, next_at_ms ${bigint} NOT NULL)`,
  ],
};
