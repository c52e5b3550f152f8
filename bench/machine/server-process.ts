import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { cpuSeconds, processTree } from "./process-tree.ts";

export interface ServerStart {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  readonly folder: string;
  /** Accepts connections once the server is ready, unless `isReady` is given. */
  readonly port: number;
  readonly isReady?: () => Promise<boolean>;
}

/** A server in a process of its own. Its output goes to a file, as under a supervisor. */
export interface ServerProcess {
  readonly pid: number;
  /** From the start of the process until it was ready: by the clock, and of the CPU. */
  readonly startMs: number;
  readonly startCpuMs: number;
  /** Everything that it wrote so far. */
  output(): string;
  stop(): Promise<void>;
}

const READY_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 15_000;
const started = new Set<ChildProcess>();

// Nothing outlives the benchmark, however it ends.
process.on("exit", () => {
  for (const child of started) child.kill("SIGKILL");
});

export async function startServer(start: ServerStart): Promise<ServerProcess> {
  const logFile = `${start.folder}/server-${start.port}.log`;
  const log = openSync(logFile, "a");
  const startedAt = performance.now();
  const child = spawn(start.command, start.args, {
    cwd: start.folder,
    env: { PATH: process.env.PATH ?? "", HOME: start.folder, ...start.env },
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  started.add(child);
  const ended = once(child, "exit").finally(() => started.delete(child));
  ended.catch(() => {});
  const isReady = start.isReady ?? (() => isListening(start.port));
  while (!(await isReady())) {
    const isOver = child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
    if (isOver || performance.now() - startedAt > READY_LIMIT_MS) {
      child.kill("SIGKILL");
      throw new Error(`${isOver ? "it ended" : "it was not ready in time"}: ${endOf(logFile)}`);
    }
    await wait(2);
  }
  const pid = Number(child.pid);
  const startMs = performance.now() - startedAt;
  return {
    pid,
    startMs,
    startCpuMs: cpuSeconds(processTree([pid])) * 1000,
    output: () => readFileSync(logFile, "utf8"),
    async stop() {
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
      await ended;
      clearTimeout(late);
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

function endOf(file: string): string {
  return readFileSync(file, "utf8").trim().slice(-400).replaceAll("\n", " / ") || "it wrote nothing";
}
