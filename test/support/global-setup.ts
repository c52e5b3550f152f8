import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}

/**
 * One real PostgreSQL for the whole run: the server binaries come from npm, or `TEST_DATABASE_URL` names a server
 * that runs already. When neither can be had the run fails; PostgreSQL is never skipped silently.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined && given !== "") {
    project.provide("postgresUrl", given);
    return async () => {};
  }
  const server = fork(join(import.meta.dirname, "postgres-server.ts"), {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  project.provide("postgresUrl", await address(server));
  return async () => {
    const ended = once(server, "exit");
    server.disconnect();
    await ended;
  };
}

async function address(server: ChildProcess): Promise<string> {
  let complaint = "";
  server.stderr?.on("data", (chunk) => (complaint += chunk));
  const [url] = await Promise.race([
    once(server, "message"),
    once(server, "exit").then(([code]) => {
      throw new Error(`PostgreSQL did not start (exit ${code}): ${complaint}`);
    }),
  ]);
  return url;
}
