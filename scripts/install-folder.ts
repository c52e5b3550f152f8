/**
 * Installs the packages of a folder that `npm ci` leaves out, unless npm has installed what its lock file says:
 * `node scripts/install-folder.ts interop`
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

interface Locked {
  readonly version?: string;
  /** For another machine, or left out by choice. */
  readonly optional?: true;
}

const [, , folder] = process.argv;
if (folder === undefined) throw new Error("name the folder: node scripts/install-folder.ts interop");

if (!isInstalled()) {
  execFileSync("npm", ["ci", "--prefix", folder, "--no-audit", "--no-fund"], { stdio: "inherit" });
}

/** Whether npm's own list of what it installed (a package's own version may read `v2.1.0`) fits the lock file. */
function isInstalled(): boolean {
  const installed = readPackages("node_modules/.package-lock.json");
  return Object.entries(readPackages("package-lock.json")).every(
    ([path, { version, optional }]) => path === "" || optional || installed[path]?.version === version,
  );
}

/** The packages of a lock file, by path; none where there is no such file. */
function readPackages(path: string): Record<string, Locked> {
  try {
    return JSON.parse(readFileSync(`${folder}/${path}`, "utf8")).packages;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}
