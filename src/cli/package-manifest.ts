import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of the package that this command belongs to: a clone, or one in a `node_modules`. */
export const PACKAGE_FOLDER = fileURLToPath(new URL("../../", import.meta.url));

interface Manifest {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

export function packageManifest(): Manifest {
  return JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
}

export const VERSION: string = packageManifest().version;
