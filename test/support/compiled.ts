import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Where processes of tests keep what Node compiled: half of a start's work is to read TypeScript. */
export const COMPILED = fileURLToPath(new URL("../../node_modules/.cache/oncehook-tests", import.meta.url));

const EVERYTHING = fileURLToPath(new URL("../../src/app/index.ts", import.meta.url));

/** Compiles the receiver. Node writes at an orderly end, and processes of tests are often killed. */
export async function compileAhead(): Promise<void> {
  const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED };
  await promisify(execFile)(process.execPath, ["--conditions=oncehook-source", EVERYTHING], { env });
}
