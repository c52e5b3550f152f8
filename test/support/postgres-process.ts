import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** npm's PostgreSQL in a process of its own; see `postgres-server.ts`. */
export interface PostgresProcess {
  readonly pid: number;
  readonly url: string;
  /** Its certificate, for the name `localhost`; it is its own authority. */
  readonly caFile: string;
  stop(): Promise<void>;
}

/** @throws Error that says why it could not be started */
export async function startPostgresProcess(): Promise<PostgresProcess> {
  const server = fork(join(import.meta.dirname, "postgres-server.ts"), {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  return {
    pid: Number(server.pid),
    ...(await addressOf(server)),
    async stop() {
      const ended = once(server, "exit");
      server.disconnect();
      await ended;
    },
  };
}

async function addressOf(server: ChildProcess): Promise<Pick<PostgresProcess, "url" | "caFile">> {
  let complaint = "";
  server.stderr?.on("data", (chunk) => (complaint += chunk));
  const [address] = await Promise.race([
    once(server, "message"),
    once(server, "exit").then(([code]) => {
      throw new Error(`PostgreSQL did not start (exit ${code}): ${complaint}`);
    }),
  ]);
  return address;
}
