import type { SchemaStep } from "./schema-step.ts";

/**
 * What the overview shows, counted by time: `slot` is when a period of `step_seconds` began, in seconds since the epoch, and
 * `bucket` how long it took (`domain/rollup.ts`). And an index over the rows of the callback log that are neither successes nor
 * duplicates: they are what is looked for, and few, so that no fresh callback writes to it (decision 0017).
 */
export const rollups: SchemaStep = {
  number: 5,
  name: "rollups",
  statements: ({ bigint }) => [
    `CREATE TABLE oncehook_rollups (
      step_seconds integer NOT NULL,
      slot ${bigint} NOT NULL,
      source text NOT NULL,
      outcome text NOT NULL,
      bucket smallint NOT NULL,
      count ${bigint} NOT NULL,
      PRIMARY KEY (step_seconds, slot, source, outcome, bucket)
    )`,
    `CREATE INDEX oncehook_callbacks_rare ON oncehook_callbacks (outcome, id)
      WHERE outcome <> 'success' AND outcome <> 'already_processed'`,
  ],
};
