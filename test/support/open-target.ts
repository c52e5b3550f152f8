import type { OpenedStore, OpenOptions } from "../../src/store/index.ts";
import { openPostgresStore } from "../../src/store/postgres/index.ts";
import { openSqliteStore } from "../../src/store/sqlite/index.ts";
import { systemClock } from "../../src/system/index.ts";

export type Dialect = "sqlite" | "postgres";

export interface Target {
  readonly dialect: Dialect;
  /** As in DATABASE_URL. */
  readonly url: string;
}

/** The path of an SQLite database. */
export const databaseFile = ({ url }: Pick<Target, "url">): string => url.slice("sqlite:".length);

export const STAMP = { environment: "test", keys: { current: "key-1", previous: [] } } as const;

export type StoreOptions = Partial<OpenOptions> & {
  poolSize?: number;
  schema?: string;
  lockTimeoutMs?: number;
  statementTimeoutMs?: number;
};

export function openTarget(target: Target, options: StoreOptions = {}): Promise<OpenedStore> {
  const { poolSize = 10, schema, lockTimeoutMs = 3_000, statementTimeoutMs = 10_000, ...rest } = options;
  const common = { clock: systemClock, migrations: [], stamp: STAMP, ...rest };
  return target.dialect === "sqlite"
    ? openSqliteStore({ ...common, path: databaseFile(target) })
    : openPostgresStore({ ...common, connection: target.url, schema, poolSize, statementTimeoutMs, lockTimeoutMs });
}
