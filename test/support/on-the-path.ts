import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Whether a program is installed, so that a suite which needs it can say aloud that it is not. */
export function isOnThePath(program: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
