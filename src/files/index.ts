export { makePrivateFolder, syncFile, syncParentFolder, writableByOthers } from "./files.ts";
