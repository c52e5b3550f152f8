export type * from "./copy.ts";
export { assertCopyable, copyRows } from "./copy-rows.ts";
export { openCopySource } from "./copy-source.ts";
export { openCopyTarget } from "./copy-target.ts";
