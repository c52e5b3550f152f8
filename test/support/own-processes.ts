import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect } from "vitest";
import { endFile } from "./at-file-end.ts";
import { COMPILED } from "./compiled.ts";
import { RUN_MARK } from "./left-running.ts";

/** For a process that was asked to end and takes its time. */
const GRACE_MS = 10_000;

interface Spawn {
  readonly process: ChildProcess;
  readonly options: { readonly args?: readonly string[]; envPairs?: string[] };
}

const running = new Set<ChildProcess>();

// Every way to start a process meets here, so that no test can forget to name one.
const SPAWN = "tracing:child_process.spawn:start";

/** The command keeps its own: its flags of V8 make compiled code of others unfit. */
const isOurs = (arg: string) => arg.endsWith("-child.ts");

function note(message: unknown): void {
  const { process: child, options } = message as Spawn;
  const others = options.envPairs?.filter((pair) => !pair.startsWith(`${RUN_MARK}=`)) ?? [];
  const mark = `${RUN_MARK}=${process.env[RUN_MARK]} ${expect.getState().testPath}`;
  options.envPairs = [...others, mark, ...(options.args?.some(isOurs) ? [`NODE_COMPILE_CACHE=${COMPILED}`] : [])];
  running.add(child);
  child.once("exit", () => running.delete(child));
  child.once("error", () => running.delete(child));
}

// This file runs once for each test file, in a process that runs many.
subscribe(SPAWN, note);

afterAll(async () => {
  await endFile();
  unsubscribe(SPAWN, note);
  const left = [...running];
  const asked = left.filter((child) => child.killed);
  await Promise.race([
    Promise.all(asked.map((child) => once(child, "exit"))),
    sleep(asked.length > 0 ? GRACE_MS : 0, undefined, { ref: false }),
  ]);
  const forgotten = left.filter((child) => running.has(child));
  if (forgotten.length === 0) return;
  for (const child of forgotten) child.kill("SIGKILL");
  const lines = forgotten.map(({ pid, spawnargs }) => `${pid} ${spawnargs.join(" ")}`);
  throw new Error(`the tests of this file left running, killed now:\n${lines.join("\n")}`);
});
