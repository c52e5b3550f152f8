import { bindQuery, postgresDialect, sqliteDialect } from "../../src/store/bind-query.ts";
import { runStatements } from "../../src/store/migrations/schema.ts";
import { STEPS } from "../../src/store/migrations/steps.ts";
import { execute } from "./execute.ts";
import type { Target } from "./open-target.ts";

const AT = "2026-01-01T00:00:00.000Z";

/** Makes an empty database the one that a version with this newest step of the schema has made, with a stored event. */
export async function makeOlder(target: Target, newest: number): Promise<void> {
  const isSqlite = target.dialect === "sqlite";
  const query = bindQuery(isSqlite ? sqliteDialect : postgresDialect, async ({ sql }) => {
    await execute(target, sql);
    return { rows: [] };
  });
  const steps = STEPS.filter(({ number }) => number <= newest);
  const text = `
CREATE TABLE oncehook_schema (number integer PRIMARY KEY, name text NOT NULL, applied_at {time} NOT NULL);
CREATE TABLE oncehook_handler_migrations (
  handler text NOT NULL, name text NOT NULL, applied_at {time} NOT NULL, PRIMARY KEY (handler, name)
);
CREATE TABLE oncehook_settings (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE events (
  source text NOT NULL, id text NOT NULL, type text NOT NULL, data text NOT NULL, received_at {time} NOT NULL,
  PRIMARY KEY (source, id)
);
${steps.map((step) => step.text).join("\n")}`;
  const rows = `
${steps.map(({ number, name }) => `INSERT INTO oncehook_schema VALUES (${number}, '${name}', '${AT}')`).join(";")};
INSERT INTO oncehook_handler_migrations VALUES ('*', 'built-in-events', '${AT}');
INSERT INTO events VALUES ('shop', 'evt_0', 'order', '{"id":"evt_0"}', '${AT}')`;
  await runStatements({ query, dialect: target.dialect } as Parameters<typeof runStatements>[0], text + rows);
}
