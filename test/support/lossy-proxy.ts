import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** What becomes of a COMMIT on its way: lost before the server has it, or its answer lost afterwards. */
export type Loss = "commit" | "answer";

/** A way to PostgreSQL that cuts the connection around the next COMMIT. */
export interface LossyProxy {
  /** The database's address through the proxy. */
  readonly url: string;
  /** The next COMMIT of any connection meets this loss, later ones none. */
  loseNext(loss: Loss): void;
  /** From now on nothing passes over the connections that are open, and nobody is told; new ones work. */
  silence(): void;
  /** From now on whatever matches is replaced on its way, to the server and back, by as many bytes. */
  replace(pattern: RegExp, by: (found: string) => string): void;
}

/** The message that binds the statement of that name: the store sends COMMIT under it (manual, 54.7). */
const COMMIT = Buffer.from("\u0000oncehook_commit\u0000", "latin1");

export async function withLossyProxy<T>(url: string, use: (proxy: LossyProxy) => Promise<T>): Promise<T> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const wires = new Set<{ isSilent: boolean }>();
  let loss: Loss | undefined;
  let replaced = (chunk: Buffer): Buffer => chunk;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let answerLost = false;
    const wire = { isSilent: false };
    wires.add(wire);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // A cut connection may report an error on either side; the test looks at what the store makes of it.
      socket.on("error", () => {});
      socket.on("close", () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (chunk) => {
      if (wire.isSilent) return;
      const lost = chunk.includes(COMMIT) ? loss : undefined;
      if (lost !== undefined) loss = undefined;
      if (lost === "commit") client.destroy();
      else upstream.write(replaced(chunk));
      answerLost ||= lost === "answer";
    });
    // The answer shows that the server has committed; only then the connection is cut.
    upstream.on("data", (chunk) => {
      if (answerLost) client.destroy();
      else if (!wire.isSilent) client.write(replaced(chunk));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const through = new URL(url);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    return await use({
      url: through.href,
      loseNext(next) {
        loss = next;
      },
      silence() {
        for (const wire of wires) wire.isSilent = true;
      },
      replace(pattern, by) {
        replaced = (chunk) => Buffer.from(chunk.toString("latin1").replace(pattern, by), "latin1");
      },
    });
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  }
}
