/**
 * Packs the project into `oncehook-<version>-<12 hex digits of its SHA-512>.tgz`. npm refuses an archive of a known name whose
 * content has changed, so the name changes with the content.
 */
import { execFileSync } from "node:child_process";
import { renameSync } from "node:fs";

const [packed] = JSON.parse(execFileSync("npm", ["pack", "--json"], { encoding: "utf8" })) as [
  { filename: string; integrity: string },
];
const digest = Buffer.from(packed.integrity.replace("sha512-", ""), "base64").toString("hex", 0, 6);
const name = packed.filename.replace(/\.tgz$/, `-${digest}.tgz`);
renameSync(packed.filename, name);
process.stdout.write(`${name}\n`);
