import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** Lends a plain HTTP server on a free port. */
export async function withHttpServer<T>(
  answer: RequestListener,
  use: (origin: string) => Promise<T>,
): Promise<T> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
