import type { SchemaStep } from "./schema-step.ts";

/**
 * How far a notification is its deliveries alone say: a copy of it in another row was wrong for ever where two
 * deliveries ended at once, or a process ended between the two statements.
 */
export const deliveryStates: SchemaStep = {
  number: 7,
  name: "delivery-states",
  statements: () => [
    "DROP INDEX oncehook_notifications_listed",
    "ALTER TABLE oncehook_notifications DROP COLUMN state",
    "CREATE INDEX oncehook_deliveries_listed ON oncehook_deliveries (state, notification_id)",
  ],
};
