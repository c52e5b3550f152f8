import { inspectDatabase } from "../../src/app/open-store.ts";
import type { Config } from "../../src/config/index.ts";
import { checkDatabase as check } from "../../src/doctor/check-database.ts";

type Rest = Parameters<typeof check> extends [unknown, ...infer Others] ? Others : never;

/** The check of `oncehook doctor`, on the adapter that the configuration names. */
export const checkDatabase = (config: Config, ...rest: Rest) => check({ config, inspect: inspectDatabase }, ...rest);
