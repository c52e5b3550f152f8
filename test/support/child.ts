import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts a TypeScript file in a process of its own, as `npm start` does. */
export function startChild(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  cwd?: string,
): ChildProcess {
  const path = fileURLToPath(new URL(file, new URL("../../", import.meta.url)));
  return spawn(process.execPath, ["--conditions=oncehook-source", path, ...args], {
    env,
    cwd,
    stdio: ["pipe", "pipe", "pipe"],
  });
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
