import { randomBytes } from "node:crypto";
import { execute } from "./execute.ts";
import type { Target } from "./open-target.ts";

/**
 * Lends the target to a role that may only use a schema and read and write its tables, beside their owner.
 * @param schema with the tables that the role may use
 */
export async function withLeastRights<T>(
  target: Target,
  schema: string,
  use: (asRole: Target) => Promise<T>,
): Promise<T> {
  const role = `oncehook_app_${randomBytes(6).toString("hex")}`;
  const url = new URL(target.url);
  url.username = role;
  url.password = "app";
  const rights = [
    `CREATE ROLE ${role} LOGIN PASSWORD 'app' NOSUPERUSER NOCREATEDB`,
    `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`,
    `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`,
  ];
  await execute(target, rights.join("; "));
  try {
    return await use({ dialect: "postgres", url: url.href });
  } finally {
    await execute(target, `DROP OWNED BY ${role}; DROP ROLE ${role}`);
  }
}
