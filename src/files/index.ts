export { flushFile, flushFolder } from "./flush-path.ts";
export { makeFolder } from "./make-folder.ts";
export { writableByOthers } from "./writable-by-others.ts";
