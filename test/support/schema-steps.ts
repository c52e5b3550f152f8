import { init } from "../../src/store/migrations/initial-schema.ts";
import * as later from "../../src/store/migrations/schema-steps.ts";

/** The steps of the service's own schema, in their order. */
export const SCHEMA = [init, ...Object.values(later).filter((one) => "statements" in one)]
  .map(({ number, name }) => `${String(number).padStart(4, "0")}-${name}`)
  .sort();

/** The number of the newest one, which is what a database is said to have. */
export const NEWEST = Number(SCHEMA.at(-1)?.slice(0, 4));
