import type { SchemaStep } from "./schema-step.ts";

/**
 * When rows of the callback log were stored that had waited long for it, and when the oldest of them came: a search by time is
 * led astray by them unless it knows (decision 0031). One row for each group of them, so that there are few.
 */
export const lateCallbacks: SchemaStep = {
  number: 8,
  name: "late-callbacks",
  statements: ({ time }) => [
    `CREATE TABLE oncehook_late_callbacks (
      oldest ${time} PRIMARY KEY,
      stored_at ${time} NOT NULL
    )`,
  ],
};
