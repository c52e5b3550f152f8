import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** The compiler reads the whole project. */
export const COMPILER_LIMIT_MS = 120_000;

export interface Run {
  /** The exit code. */
  readonly code: unknown;
  readonly output: string;
}

/** Runs Node in a folder below the project, where "oncehook" is the project's own source. */
export function runNode(args: readonly string[], cwd: string): Promise<Run> {
  const all = ["--conditions=oncehook-source", ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, all, { cwd, env: { PATH: process.env.PATH } }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, output: stdout + stderr }),
    );
  });
}

/** Has the compiler look at the files of such a folder, as strictly as at the project's. */
export function compile(folder: string): Promise<Run> {
  const tsconfig = { extends: "../../tsconfig.json", include: ["**/*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
  const tsc = join(process.cwd(), "node_modules/typescript/bin/tsc");
  return runNode([tsc, "--noEmit", "-p", "."], folder);
}
