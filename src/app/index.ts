export { backup, checkDatabase, nameOf, restore, type Where } from "./care.ts";
export { type CopyReport, copy } from "./copy/copy.ts";
export { examine } from "./doctor/examine.ts";
export type { Finding } from "./doctor/finding.ts";
export { longestRunMs } from "./lease-timing.ts";
export { migrate } from "./migrate.ts";
export { type Inspectable, type Parts, type Running, start, startInspectable } from "./start.ts";
export { StartRefused } from "./start-refused.ts";
export { type TemporaryDatabase, temporaryDatabase } from "./temporary-database.ts";
