/** Installs the platforms' SDKs into interop/, where what is there does not fit the lock file. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

interface Installed {
  readonly version?: string;
}

interface Locked extends Installed {
  /** For another machine, or left out by choice. */
  readonly optional?: true;
}

const FOLDER = "interop";

if (!isInstalled()) {
  execFileSync("npm", ["ci", "--prefix", FOLDER, "--no-audit", "--no-fund"], { stdio: "inherit" });
}

function isInstalled(): boolean {
  const { packages } = readJson<{ packages: Record<string, Locked> }>("package-lock.json");
  return Object.entries(packages).every(([path, { version, optional }]) => {
    if (path === "" || optional) return true;
    try {
      return readJson<Installed>(`${path}/package.json`).version === version;
    } catch {
      return false;
    }
  });
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(`${FOLDER}/${path}`, "utf8"));
}
