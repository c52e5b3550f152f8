export { flushFile, flushFolder } from "./flush-path.ts";
export { makeFolder } from "./make-folder.ts";
