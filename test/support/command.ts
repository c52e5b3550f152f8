import { run } from "../../src/cli/run.ts";
import { type Ended, runOncehook } from "./child.ts";

/** They end the process, or listen to its signals and errors. */
const OWN_PROCESS: ReadonlySet<string | undefined> = new Set(["serve", "demo", "listen", "tail"]);
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command of the command line with this environment and in this folder: in the test's process where the command
 * and `NODE_OPTIONS` allow it, which costs a tenth of a process. Such commands run one after the other.
 */
export function runCommandLine(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  cwd: string = process.cwd(),
): Promise<Ended> {
  const needsProcess = OWN_PROCESS.has(args[0]) && !args.includes("--help");
  if (needsProcess || env.NODE_OPTIONS !== undefined) return runOncehook(args, env, cwd);
  const running = last.then(() => runHere(args, env, cwd));
  last = running.catch(() => {});
  return running;
}

async function runHere(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Promise<Ended> {
  const printed = { stdout: "", stderr: "" };
  const before = { env: process.env, cwd: process.cwd(), exitCode: process.exitCode };
  const restore = (["stdout", "stderr"] as const).map((name) => {
    const { write } = process[name];
    process[name].write = (text: string | Uint8Array) => {
      printed[name] += typeof text === "string" ? text : Buffer.from(text).toString();
      return true;
    };
    return () => {
      process[name].write = write;
    };
  });
  process.env = { ...env };
  process.exitCode = undefined;
  try {
    process.chdir(cwd);
    const code = Number((await run(["node", "oncehook", ...args])) ?? 0);
    return { code, signal: null, ...printed };
  } finally {
    process.chdir(before.cwd);
    process.env = before.env;
    process.exitCode = before.exitCode;
    for (const undo of restore) undo();
  }
}
