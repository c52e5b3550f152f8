import { readdirSync } from "node:fs";

/** The steps of the service's own schema, in their order. */
export const SCHEMA = readdirSync("src/store/migrations")
  .filter((name) => /^\d{4}-/.test(name))
  .map((name) => name.replace(/\.ts$/, ""))
  .sort();

/** The number of the newest one, which is what a database is said to have. */
export const NEWEST = Number(SCHEMA.at(-1)?.slice(0, 4));
