import type { Kysely } from "kysely";
import type { Tables } from "../tables.ts";
import type { Dialect } from "../transaction.ts";

/** The two ways into a database for what is not the hot path; SQLite reads beside its one writer. */
export interface Access {
  readonly dialect: Dialect;
  readonly read: Kysely<Tables>;
  readonly write: Kysely<Tables>;
}
