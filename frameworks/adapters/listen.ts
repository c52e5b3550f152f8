import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Served } from "../scenarios.ts";

/** Listens at a free port of this machine. */
export async function listen(server: Server): Promise<Served> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return servedBy(server);
}

export function servedBy(server: Server): Served {
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => void server.close(done));
    },
  };
}
