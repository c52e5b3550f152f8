import type { SchemaStep } from "./schema-step.ts";

/** Why a callback was not authentic, as JSON; null for all others, so that their inserts do not name it. */
export const diagnosis: SchemaStep = {
  number: 7,
  name: "diagnosis",
  statements: () => ["ALTER TABLE oncehook_callbacks ADD COLUMN diagnosis text"],
};
