export type { Finding } from "./check-secrets.ts";
export { sourcesOfType, undocumented } from "./documented-types.ts";
export { sampleTypeOf } from "./sample-type.ts";
export { logStartupWarnings } from "./startup-warnings.ts";

/** Checks of what an application has itself: a certificate and a login. */
export const OF_THE_SERVER: ReadonlySet<string> = new Set(["certificate", "admin access"]);

/** Loads the checks only for the command. */
export const runDoctor: typeof import("./run-doctor.ts").runDoctor = async (...input) =>
  (await import("./run-doctor.ts")).runDoctor(...input);
