import type { OpenLibrary } from "../library.ts";

/** The libraries by their names; each is loaded only where it is asked for. */
export const LIBRARIES = {
  pg: async () => (await import("./pg.ts")).openPg,
  "postgres.js": async () => (await import("./postgres-js.ts")).openPostgresJs,
  Kysely: async () => (await import("./kysely.ts")).openKysely,
  "Drizzle on node-postgres": async () => (await import("./drizzle.ts")).openDrizzlePg,
  "Drizzle on postgres.js": async () => (await import("./drizzle.ts")).openDrizzlePostgresJs,
  Knex: async () => (await import("./knex.ts")).openKnex,
  TypeORM: async () => (await import("./type-orm.ts")).openTypeOrm,
  Prisma: async () => (await import("./prisma.ts")).openPrisma,
} as const;

export type LibraryName = keyof typeof LIBRARIES;

/** @returns opens it; its transactions are of a type that only `join` and `insert` of the same library need to know */
export async function openerOf(name: LibraryName): Promise<OpenLibrary<unknown>> {
  return (await LIBRARIES[name]()) as unknown as OpenLibrary<unknown>;
}
