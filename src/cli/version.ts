import { readFileSync } from "node:fs";

/** The version of the package this file was started from. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
).version;
