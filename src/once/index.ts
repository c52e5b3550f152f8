/** `oncehook/once`: an event once, inside a transaction that the application owns. It runs in edge functions too. */
export { type DrizzleSql, type DrizzleTransaction, fromDrizzle } from "./from-drizzle.ts";
export { fromKnex, type KnexTransaction } from "./from-knex.ts";
export { fromKysely, type KyselyTransaction } from "./from-kysely.ts";
export { fromPg, type PgClient } from "./from-pg.ts";
export { fromPostgresJs, type PostgresJsTransaction } from "./from-postgres-js.ts";
export { fromPrisma, type PrismaTransaction } from "./from-prisma.ts";
export { fromTypeOrm, type TypeOrmManager } from "./from-type-orm.ts";
export { type OnceKey, type OnceOutcome, once } from "./once.ts";
export { OnceError } from "./once-error.ts";
export type { OnceOptions, OnceTransaction, Row } from "./once-transaction.ts";
