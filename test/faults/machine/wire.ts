import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** The message that binds the statement of that name: the store sends COMMIT under it (PostgreSQL's manual, 54.7). */
const COMMIT = Buffer.from("\u0000oncehook_commit\u0000", "latin1");

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  /** Nothing of the answer passes any more: the server has committed, and nobody hears of it. */
  isSwallowing: boolean;
}

/** A way to a server that delays, cuts, half-closes, swallows answers, and may be led to another server. */
export class Wire {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #port: number;
  /** Answers of so many COMMITs are still to be swallowed. */
  #swallowing = 0;
  #delayMs = 0;
  /** What was done, for the figures. */
  swallowed = 0;
  cut = 0;

  private constructor(port: number) {
    this.#port = port;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#join(client));
  }

  static async to(port: number): Promise<Wire> {
    const wire = new Wire(port);
    wire.#server.listen(0, "127.0.0.1");
    await once(wire.#server, "listening");
    return wire;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** New connections go there. */
  lead(port: number): void {
    this.#port = port;
  }

  /** Every piece of data waits so long on its way to the server. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** The next COMMIT passes, its answer does not, and then the connection is gone. */
  swallowNextCommit(): void {
    this.#swallowing += 1;
  }

  /** Cuts connections as a router does that forgets them: with a reset, in the middle of whatever is said. */
  cutAll(): number {
    const pairs = [...this.#pairs];
    for (const { client, upstream } of pairs) {
      client.resetAndDestroy();
      upstream.resetAndDestroy();
    }
    this.cut += pairs.length;
    return pairs.length;
  }

  /** Ends one direction only: the receivers may still speak, and hear nothing any more. */
  halfClose(): number {
    const pairs = [...this.#pairs];
    for (const { client } of pairs) client.end();
    this.cut += pairs.length;
    return pairs.length;
  }

  async close(): Promise<void> {
    for (const { client, upstream } of this.#pairs) {
      client.destroy();
      upstream.destroy();
    }
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(client: Socket): void {
    const upstream = connect({ port: this.#port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    const pair: Pair = { client, upstream, isSwallowing: false };
    this.#pairs.add(pair);
    for (const socket of [client, upstream]) {
      // Either side may report the cut; the receivers' store is what is looked at.
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#pairs.delete(pair);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (chunk) => this.#forward(pair, chunk));
    client.on("end", () => upstream.end());
    upstream.on("data", (chunk) => {
      if (!pair.isSwallowing) {
        if (client.writable) client.write(chunk);
        return;
      }
      // The answer shows that the server has committed.
      this.swallowed += 1;
      client.resetAndDestroy();
      upstream.destroy();
    });
    upstream.on("end", () => client.end());
  }

  #forward(pair: Pair, chunk: Buffer): void {
    if (this.#swallowing > 0 && !pair.isSwallowing && chunk.includes(COMMIT)) {
      this.#swallowing -= 1;
      pair.isSwallowing = true;
    }
    const write = (): void => {
      if (pair.upstream.writable) pair.upstream.write(chunk);
    };
    if (this.#delayMs === 0) write();
    else setTimeout(write, this.#delayMs);
  }
}
