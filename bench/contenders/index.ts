import { APPLICATIONS } from "./application.ts";
import type { Contender } from "./contender.ts";
import { goPostgres, goSqlite } from "./go.ts";
import { bare, expressPostgres, expressSqlite, prototype } from "./hand-written.ts";
import {
  oncehookDependent,
  oncehookDependentAlone,
  oncehookPackage,
  oncehookPostgres,
  oncehookSignedId,
  oncehookSqlite,
  oncehookUnsignedId,
} from "./oncehook.ts";
import { pgbench, pgbenchPipeline } from "./pgbench.ts";
import { restate } from "./restate.ts";
import { webhook } from "./webhook.ts";

export type { Contender, Place, Serving } from "./contender.ts";
export { databaseFile } from "./oncehook.ts";

/** In the order in which each round goes through them. */
export const CONTENDERS: readonly Contender[] = [
  bare,
  prototype,
  oncehookSqlite,
  oncehookPostgres,
  expressSqlite,
  expressPostgres,
  goSqlite,
  goPostgres,
  webhook,
  restate,
  pgbench,
  pgbenchPipeline,
  oncehookPackage,
  oncehookSignedId,
  oncehookUnsignedId,
  oncehookDependent,
  oncehookDependentAlone,
  ...APPLICATIONS,
];
