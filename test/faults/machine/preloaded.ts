import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { NotRun } from "../rounds/round.ts";

/**
 * Compiles a library that a receiver is started with as LD_PRELOAD.
 * @param name of the C file beside this one
 * @throws NotRun where there is no compiler, or no such way to load a library
 */
export function preloaded(name: string, folder: string): string {
  const compiler = spawnSync("cc", ["--version"]);
  if (process.platform !== "linux" || compiler.status !== 0) {
    throw new NotRun("it needs Linux and a C compiler (apt-get install gcc libc6-dev)");
  }
  const source = fileURLToPath(new URL(`${name}.c`, import.meta.url));
  const library = join(folder, `${name}.so`);
  execFileSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl", "-lpthread"]);
  return library;
}
