import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { until } from "../support/until.ts";

const LAST_WORDS = 4_000;
const START_LIMIT_MS = 60_000;

/** A real proxy that serves, in a process of its own. */
export interface ProxyProcess {
  stop(): Promise<void>;
}

/** Starts a proxy, and waits until it takes connections. */
export async function startProxy(
  program: string,
  args: readonly string[],
  port: number,
  env: NodeJS.ProcessEnv = process.env,
): Promise<ProxyProcess> {
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let words = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      words = (words + chunk).slice(-LAST_WORDS);
    });
  }
  await until(async () => {
    if (hasEnded(child)) throw new Error(`${program} ended with ${child.exitCode}: ${words}`);
    return takesConnections(port);
  }, START_LIMIT_MS);
  return {
    async stop() {
      if (hasEnded(child)) return;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
      .once("connect", () => resolve(true) === undefined && socket.destroy())
      .once("error", () => resolve(false));
  });
}
