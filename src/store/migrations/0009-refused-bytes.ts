import type { SchemaStep } from "./schema-step.ts";

/**
 * How many bytes the rows of strangers take, so that the oldest ones go where they are too many: found by an index that holds
 * no other rows. `left_out` is JSON, of a row that stands for callbacks without rows of their own.
 */
export const refusedBytes: SchemaStep = {
  number: 9,
  name: "refused-bytes",
  statements: ({ bigint }) => [
    `ALTER TABLE oncehook_callbacks ADD COLUMN refused_bytes ${bigint}`,
    "ALTER TABLE oncehook_callbacks ADD COLUMN left_out text",
    `CREATE INDEX oncehook_callbacks_refused ON oncehook_callbacks (id, refused_bytes)
      WHERE refused_bytes IS NOT NULL`,
  ],
};
