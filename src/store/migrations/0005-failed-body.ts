import type { SchemaStep } from "./schema-step.ts";

/** The fingerprint of what was sent, which is not always that of the bytes that are kept for the retry. */
export const failedBody: SchemaStep = {
  number: 5,
  name: "failed-body",
  statements: () => ["ALTER TABLE oncehook_failures ADD COLUMN body_sha256 text"],
};
