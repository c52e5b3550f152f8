import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The command as the package has it: it starts in less than half the time of the one in src/. */
export const BUILT_COMMAND = join(ROOT, "dist/cli/main.js");

/** A change of one of these is a change of the package. */
const MADE_OF = ["src", "package.json", "package-lock.json", "scripts/bundle.config.ts", "scripts/doors.ts"];

/** Builds the package's JavaScript where it is not there, or older than what it is made of. */
export async function buildAhead(): Promise<void> {
  const builtAt = changedAt(BUILT_COMMAND);
  if (MADE_OF.every((path) => newestIn(join(ROOT, path)) < builtAt)) return;
  const args = ["node_modules/vite/bin/vite.js", "build", "--config", "scripts/bundle.config.ts", "--logLevel", "warn"];
  await promisify(execFile)(process.execPath, args, { cwd: ROOT });
}

/** A folder changes where a file is removed from it. */
function newestIn(path: string): number {
  const within = statSync(path).isDirectory() ? readdirSync(path, { recursive: true, encoding: "utf8" }) : [];
  return Math.max(changedAt(path), ...within.map((name) => changedAt(join(path, name))));
}

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
