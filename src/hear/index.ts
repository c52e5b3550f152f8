export type { Beginning } from "./follow.ts";
export { createHearing, type Hearing } from "./hearing.ts";
export { type HeardLine, readPlace } from "./lines.ts";
