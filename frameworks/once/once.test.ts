import { describeOnce } from "./describe-once.ts";
import { openDrizzlePg, openDrizzlePostgresJs } from "./libraries/drizzle.ts";
import { openKnex } from "./libraries/knex.ts";
import { openKysely } from "./libraries/kysely.ts";
import { openPg } from "./libraries/pg.ts";
import { openPostgresJs } from "./libraries/postgres-js.ts";
import { openPrisma } from "./libraries/prisma.ts";
import { openTypeOrm } from "./libraries/type-orm.ts";

describeOnce("pg", openPg);
describeOnce("postgres.js", openPostgresJs);
describeOnce("Kysely", openKysely);
describeOnce("Drizzle on node-postgres", openDrizzlePg);
describeOnce("Drizzle on postgres.js", openDrizzlePostgresJs);
describeOnce("Knex", openKnex);
describeOnce("TypeORM", openTypeOrm);
describeOnce("Prisma", openPrisma);
