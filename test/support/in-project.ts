import { execFile } from "node:child_process";
import { join } from "node:path";

/** The compiler reads all files that those of a project import. */
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

/**
 * Has the compiler look at the files of projects, each under its own tsconfig.json.
 * @returns what it says of each, "" where it finds nothing
 */
export async function compile(folders: readonly string[]): Promise<readonly string[]> {
  const child = join(process.cwd(), "test/support/compile-child.ts");
  const { code, output } = await runNode([child, ...folders], process.cwd());
  if (code !== 0) throw new Error(output);
  return JSON.parse(output);
}
