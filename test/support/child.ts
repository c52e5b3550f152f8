import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { BUILT_COMMAND } from "./built-package.ts";

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the built command in a process of its own, as a user of the package does. */
export function startOncehook(args: readonly string[], env?: NodeJS.ProcessEnv, cwd?: string): ChildProcess {
  return startNode([BUILT_COMMAND, ...args], env, cwd);
}

/** Starts a TypeScript file in a process of its own; what it imports of ours is the source. */
export function startChild(file: string, args: readonly string[], env?: NodeJS.ProcessEnv, cwd?: string): ChildProcess {
  const path = fileURLToPath(new URL(file, new URL("../../", import.meta.url)));
  return startNode(["--conditions=oncehook-source", path, ...args], env, cwd);
}

/** The command as it stands in src/, for whoever asks which modules it loads. */
export function startFromSource(args: readonly string[], env?: NodeJS.ProcessEnv, cwd?: string): ChildProcess {
  return startChild("src/cli/main.js", args, env, cwd);
}

function startNode(args: readonly string[], env: NodeJS.ProcessEnv = process.env, cwd?: string): ChildProcess {
  return spawn(process.execPath, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
}

export async function ended(child: ChildProcess): Promise<Ended> {
  child.stdin?.end();
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  return { code, signal, stdout, stderr };
}

/** Runs a TypeScript file to its end. */
export function runChild(file: string, args: readonly string[], env?: NodeJS.ProcessEnv, cwd?: string): Promise<Ended> {
  return ended(startChild(file, args, env, cwd));
}

/** Runs a command line to its end. */
export function runOncehook(args: readonly string[], env?: NodeJS.ProcessEnv, cwd?: string): Promise<Ended> {
  return ended(startOncehook(args, env, cwd));
}
