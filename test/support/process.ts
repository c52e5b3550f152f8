import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { signHmac } from "../../src/index.ts";
import { startChild } from "./child.ts";
import { freePort } from "./free-port.ts";
import type { Target } from "./open-target.ts";
import { SECRET, TOKEN } from "./receiver.ts";
import { until } from "./until.ts";

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

export async function startServer(
  target: Target,
  env: Record<string, string> = {},
  cwd?: string,
): Promise<ServerProcess> {
  const port = Number(env.PORT ?? (await freePort()));
  const adminPort = await freePort();
  const given = {
    PATH: process.env.PATH,
    APP_ENV: "test",
    SIGNING_SECRET: SECRET,
    ADMIN_TOKEN: TOKEN,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    DATABASE_URL: target.url,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
    ...env,
  };
  const child = startChild("src/cli/main.js", ["serve"], given, cwd);
  let errors = "";
  child.stderr?.on("data", (chunk) => {
    errors += chunk;
  });
  child.stdout?.resume();
  const ended = once(child, "exit").then(
    ([code, signal]) => (code ?? signal) as number | NodeJS.Signals | null,
  );
  const url = `http://${env.HOST ?? "127.0.0.1"}:${port}`;
  const adminUrl = `http://127.0.0.1:${adminPort}`;
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`serve exited with ${child.exitCode}: ${errors}`);
    return fetch(`${adminUrl}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  });
  return { child, url, adminUrl, stderr: () => errors, ended, send: (event) => send(url, event) };
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
