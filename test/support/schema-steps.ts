import { STEPS } from "../../src/store/migrations/steps.ts";

/** The steps of the service's own schema, in their order. */
export const SCHEMA = STEPS.map(({ number, name }) => `${String(number).padStart(4, "0")}-${name}`);

/** The number of the newest one, which is what a database is said to have. */
export const NEWEST = Number(SCHEMA.at(-1)?.slice(0, 4));
