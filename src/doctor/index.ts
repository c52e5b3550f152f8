export type { Finding } from "./check-secrets.ts";
export { sourcesOfType, undocumented } from "./documented-types.ts";
export { logStartupWarnings } from "./startup-warnings.ts";

/** Loads the checks only for the command. */
export const runDoctor: typeof import("./run-doctor.ts").runDoctor = async (...input) =>
  (await import("./run-doctor.ts")).runDoctor(...input);
