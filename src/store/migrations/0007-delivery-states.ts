import type { SchemaStep } from "./schema-step.ts";

/**
 * Each recipient of a mail has a delivery of its own, so that mails which are not out yet are spread anew. How far a
 * notification is its deliveries alone say: a copy of it in another row was wrong for ever where two deliveries ended at
 * once, or a process ended between the two statements.
 */
export const deliveryStates: SchemaStep = {
  number: 7,
  name: "delivery-states",
  statements: () => [
    `UPDATE oncehook_notifications SET spread_at = NULL WHERE id IN
      (SELECT notification_id FROM oncehook_deliveries WHERE channel = 'email' AND state <> 'delivered')`,
    "DELETE FROM oncehook_deliveries WHERE channel = 'email' AND state <> 'delivered'",
    "DROP INDEX oncehook_notifications_listed",
    "ALTER TABLE oncehook_notifications DROP COLUMN state",
    "CREATE INDEX oncehook_deliveries_listed ON oncehook_deliveries (state, notification_id)",
  ],
};
