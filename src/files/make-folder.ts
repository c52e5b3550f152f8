import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder, and those above it, for the owner alone. Not `mkdirSync` with `recursive`, which turns for
 * ever where a folder that exists takes no other (`/proc`).
 * @throws the system's error
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Two processes may start at once.
    if (!existsSync(folder)) throw error;
  }
}
