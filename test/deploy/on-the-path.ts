import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Servers lie where only administrators look for commands. */
const PLACES = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];

/** Where a program of the system's lies, or undefined; so elsewhere than on Linux, where one host has all of 127.0.0.0/8. */
export function onThePath(program: string): string | undefined {
  if (process.platform !== "linux") return undefined;
  return PLACES.map((place) => join(place, program)).find((path) => existsSync(path));
}

/** The title of what is not held on this machine, so that a skipped test says so aloud. */
export const notRun = (program: string, what: string) =>
  `NOT RUN, as there is no ${program} on the PATH of a Linux (apt-get install ${program}): ${what}`;
