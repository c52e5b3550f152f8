import type { IncomingMessage, Server } from "node:http";
import type { Log } from "../domain/index.ts";
import { createConnectionLimit, guardConnections } from "../http/index.ts";

/** The process receives callbacks too, and needs its file descriptors for them. */
const MOST_CONNECTIONS = 512;
/** A file of the dashboard over a slow line. */
const WRITE_TIMEOUT_MS = 30_000;

/** Bounds the connections of the admin listener as those of the public one are bounded, without a bound for one address. */
export function createAdminConnections(log: Log, most = MOST_CONNECTIONS) {
  const unfinished = new Set<IncomingMessage>();
  const limit = createConnectionLimit({
    limits: { max: most, maxPerAddress: most, isProxy: () => true },
    endOldestBody() {
      const [oldest] = unfinished;
      if (oldest === undefined) return false;
      unfinished.delete(oldest);
      oldest.socket.destroy();
      return true;
    },
    report: (closed) =>
      log.warn(
        { closed, most },
        "connections to the admin listener were closed: as many were open as may be",
      ),
  });
  const guards: { close(): void }[] = [limit];
  const report = (reason: string, closed: number): void =>
    log.warn({ closed }, `connections to the admin listener were closed: ${reason}`);

  return {
    guard(server: Server): void {
      server.on("connection", limit.accepted);
      server.prependListener("request", (message: IncomingMessage) => {
        const { headers } = message;
        if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) return;
        unfinished.add(message);
        const over = (): void => void unfinished.delete(message);
        message.once("end", over).once("close", over);
      });
      guards.push(guardConnections(server, { limit, writeTimeoutMs: WRITE_TIMEOUT_MS, report }));
    },
    close(): void {
      for (const guard of guards) guard.close();
    },
  };
}
