import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { signHmac } from "../../src/index.ts";
import { startOncehook } from "./child.ts";
import { freePort } from "./free-port.ts";
import type { Target } from "./open-target.ts";
import { CHILD_ENVIRONMENT, SECRET } from "./secrets.ts";
import { until } from "./until.ts";

/** On a machine with much else to do, where a process takes many seconds to evaluate its modules. */
const START_LIMIT_MS = 60_000;

const LAST_WORDS = 4_000;

/** A receiver in a process of its own, started with what a user would set and nothing else. */
export interface ServerProcess {
  readonly child: ChildProcess;
  readonly url: string;
  readonly adminUrl: string;
  /** Everything written to standard error so far. */
  stderr(): string;
  send(event: object): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Resolves with the exit code, or the signal. */
  ended: Promise<number | NodeJS.Signals | null>;
}

/** A process that was begun, and that may never come so far as to serve. */
export interface Launched {
  readonly child: ChildProcess;
  /** Resolves with the exit code, or the signal. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  /** What it wrote to standard error, and the end of its log. */
  lastWords(): string;
  /** @throws Error when it ends before it serves */
  readonly ready: Promise<ServerProcess>;
}

export async function startServer(
  target: Target,
  env: Record<string, string> = {},
  cwd?: string,
  command = startOncehook,
): Promise<ServerProcess> {
  return (await launchServer(target, env, cwd, command)).ready;
}

export async function launchServer(
  target: Target,
  env: Record<string, string> = {},
  cwd?: string,
  command = startOncehook,
): Promise<Launched> {
  const port = Number(env.PORT ?? (await freePort()));
  const adminPort = await freePort();
  const given = {
    ...CHILD_ENVIRONMENT,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    DATABASE_URL: target.url,
    ...env,
  };
  const child = command(["serve"], given, cwd);
  let errors = "";
  child.stderr?.on("data", (chunk) => {
    errors += chunk;
  });
  let printed = "";
  child.stdout?.on("data", (chunk) => {
    printed = (printed + chunk).slice(-LAST_WORDS);
  });
  const ended = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals | null);
  const url = `http://${env.HOST ?? "127.0.0.1"}:${port}`;
  const adminUrl = `http://127.0.0.1:${adminPort}`;
  const server: ServerProcess = {
    child,
    url,
    adminUrl,
    stderr: () => errors,
    ended,
    send: (event) => send(url, event),
  };
  const ready = until(async () => {
    const ending = child.exitCode ?? child.signalCode;
    if (ending !== null) throw new Error(`serve ended with ${ending}: ${errors}`);
    return fetch(`${adminUrl}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  }, START_LIMIT_MS).then(() => server);
  // Whoever launched it may look at its end only; one that never served is stopped by no test.
  ready.catch(() => child.kill("SIGKILL"));
  return { child, ended, ready, lastWords: () => `${errors}${printed}` };
}

async function send(url: string, event: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const body = JSON.stringify(event);
  const response = await fetch(`${url}/api/platform/callback`, {
    method: "POST",
    body,
    headers: { "x-signature": signHmac(SECRET, Buffer.from(body)) },
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
