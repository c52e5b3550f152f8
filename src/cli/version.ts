import { ownManifest } from "./own-package.ts";

/** The version of the package this file was started from. */
export const VERSION: string = ownManifest().version;
