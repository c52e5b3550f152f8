import type { SchemaStep } from "./schema.ts";

/**
 * Rejected events. SQLite changes no condition of a column, so another column takes its place. What was rejected before
 * was listed as exhausted.
 */
const REJECTED_FAILURES = `
DROP INDEX oncehook_failures_due;
DROP INDEX oncehook_failures_listed;
ALTER TABLE oncehook_failures ADD COLUMN new_state text NOT NULL DEFAULT 'exhausted'
  CHECK (new_state IN ('accepted', 'waiting', 'exhausted', 'rejected'));
UPDATE oncehook_failures SET new_state = CASE
  WHEN state = 'exhausted' AND code IN ('rejected', 'event_invalid', 'event_too_old') THEN 'rejected' ELSE state END;
ALTER TABLE oncehook_failures DROP COLUMN state;
ALTER TABLE oncehook_failures RENAME COLUMN new_state TO state;
CREATE INDEX oncehook_failures_due ON oncehook_failures (state, next_attempt_at);
CREATE INDEX oncehook_failures_listed ON oncehook_failures (state, id, event_type, code, source);
`;

export const rejectedFailures: SchemaStep = {
  number: 25,
  name: "rejected-failures",
  text: REJECTED_FAILURES,
};
