import type { SchemaStep } from "./schema-step.ts";

/**
 * Which of the handlers' own migrations were applied, by handler and name: two handlers may name one alike. Those of
 * before have no handler, until a start finds the one whose they are. SQLite cannot change a primary key.
 */
export const migrationsOfHandlers: SchemaStep = {
  number: 13,
  name: "migrations-of-handlers",
  statements: ({ time }) => [
    `CREATE TABLE oncehook_handler_migrations (
      handler text NOT NULL,
      name text NOT NULL,
      applied_at ${time} NOT NULL,
      PRIMARY KEY (handler, name)
    )`,
    `INSERT INTO oncehook_handler_migrations (handler, name, applied_at)
      SELECT '', name, applied_at FROM oncehook_own_migrations`,
    "DROP TABLE oncehook_own_migrations",
    "ALTER TABLE oncehook_handler_migrations RENAME TO oncehook_own_migrations",
  ],
};
