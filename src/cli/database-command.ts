import { Command } from "commander";
import { nameOf, type Where } from "../app/index.ts";
import { loadDatabase } from "../config/index.ts";
import type { CheckedDatabase } from "../store/index.ts";
import { loadEnvFile } from "./load-env-file.ts";

export interface DatabaseOptions {
  readonly env?: string;
}

/** A command that looks after a database, and needs to know of the configuration only which one. */
export function databaseCommand(name: string): Command {
  return new Command(name).option(
    "--env <file>",
    "read APP_ENV and DATABASE_URL from a file as well; the environment wins",
  );
}

export function loadWhere({ env }: DatabaseOptions): Where {
  if (env !== undefined) loadEnvFile(env);
  return loadDatabase(process.env);
}

/** Which database it was: somebody who has several sees that he took the wrong one. */
export function contentsLine({ database }: Where, { contents }: CheckedDatabase, file?: string): string {
  const name = nameOf(database, file);
  if (contents === undefined) return `${name}: nothing in it can be read`;
  const { environment, records, newestRecordAt } = contents;
  const newest = newestRecordAt === null ? "" : `, the newest of ${newestRecordAt}`;
  return `${name}: environment ${environment ?? "not stamped yet"}, ${records} events${newest}`;
}
