export { backup, checkDatabase, nameOf, restore, type Where } from "./care.ts";
export { examine } from "./doctor/examine.ts";
export type { Finding } from "./doctor/finding.ts";
export { longestRunMs } from "./lease-timing.ts";
export { migrate } from "./migrate.ts";
export { type Parts, type Running, start } from "./start.ts";
export { StartRefused } from "./start-refused.ts";
