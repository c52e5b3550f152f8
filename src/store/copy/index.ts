export type * from "./copy.ts";
export { openCopySource } from "./copy-source.ts";
export { openCopyTarget } from "./copy-target.ts";
