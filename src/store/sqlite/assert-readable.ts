import { accessSync, constants, statSync } from "node:fs";
import { CareRefused } from "../care-refused.ts";

/** @throws CareRefused for what is no file, or not for this user; SQLite itself would only say that it cannot open it */
export function assertReadable(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new CareRefused(`there is no file ${path}; look for a misspelt path`);
  if (found.isDirectory()) throw new CareRefused(`${path} is a folder; name a file in it`);
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    throw new CareRefused(`this user may not read ${path}; run this as the user of the receiver`, { cause });
  }
}
