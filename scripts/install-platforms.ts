/** Installs the platforms' SDKs into interop/, unless npm has installed what the lock file says. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

interface Locked {
  readonly version?: string;
  /** For another machine, or left out by choice. */
  readonly optional?: true;
}

const FOLDER = "interop";

if (!isInstalled()) {
  execFileSync("npm", ["ci", "--prefix", FOLDER, "--no-audit", "--no-fund"], { stdio: "inherit" });
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
    return JSON.parse(readFileSync(`${FOLDER}/${path}`, "utf8")).packages;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}
