/**
 * Packs the project into `oncehook-<version>-<12 hex digits of its SHA-512>.tgz`. Of an archive of a known name `npm ci` installs
 * the content that its lock file and its cache know, so the name changes with the content.
 */
import { execFileSync } from "node:child_process";
import { renameSync } from "node:fs";
import { archiveName } from "./archive-name.ts";

const [packed] = JSON.parse(execFileSync("npm", ["pack", "--json"], { encoding: "utf8" })) as [
  { filename: string; integrity: string },
];
const name = archiveName(packed);
renameSync(packed.filename, name);
process.stdout.write(`${name}\n`);
