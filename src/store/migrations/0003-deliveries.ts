import type { SchemaStep } from "./schema-step.ts";

/** One row for each notification and channel, made after the handler's commit. */
export const deliveries: SchemaStep = {
  number: 3,
  name: "deliveries",
  statements: ({ id, time, bigint }) => [
    `ALTER TABLE oncehook_notifications ADD COLUMN spread_at ${time}`,
    "CREATE INDEX oncehook_notifications_fresh ON oncehook_notifications (id) WHERE spread_at IS NULL",
    "CREATE INDEX oncehook_notifications_listed ON oncehook_notifications (state, id)",
    "CREATE INDEX oncehook_notifications_created ON oncehook_notifications (created_at)",
    `CREATE TABLE oncehook_deliveries (
      id ${id},
      notification_id ${bigint} NOT NULL REFERENCES oncehook_notifications (id) ON DELETE CASCADE,
      channel text NOT NULL,
      state text NOT NULL CHECK (state IN ('waiting', 'delivered', 'dead')),
      attempts integer NOT NULL,
      error text,
      next_attempt_at ${time},
      delivered_at ${time},
      lease_owner text,
      leased_until ${time},
      UNIQUE (notification_id, channel)
    )`,
    "CREATE INDEX oncehook_deliveries_due ON oncehook_deliveries (state, next_attempt_at)",
  ],
};
