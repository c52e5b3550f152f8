import { once } from "node:events";
import type { Server } from "node:http";
import type { Http2SecureServer } from "node:http2";
import type { AddressInfo } from "node:net";

/** Lends the port of a server, which ends with its connections. */
export async function withListening(server: Server | Http2SecureServer, use: (port: number) => Promise<void>) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    if ("closeAllConnections" in server) server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  }
}
