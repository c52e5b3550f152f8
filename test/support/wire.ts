import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { nameOf } from "../../src/store/postgres/wire/prepared-names.ts";

/** What becomes of a COMMIT on its way: lost before the server has it, or its answer lost afterwards. */
export type Loss = "commit" | "answer";

/** The message that binds the statement of that name: the store sends COMMIT under it (PostgreSQL's manual, 54.7). */
const COMMIT = Buffer.from(`\u0000${nameOf("COMMIT")}\u0000`, "latin1");

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  isSilent: boolean;
  /** Nothing of the answer passes any more: the server has committed, and nobody hears of it. */
  isSwallowing: boolean;
}

/** A way to PostgreSQL that delays, cuts, half-closes, loses COMMITs or their answers, and may be led to another server. */
export class Wire {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  readonly #losses: Loss[] = [];
  #port: number;
  #delayMs = 0;
  #isFrozen = false;
  #replaced = (chunk: Buffer): Buffer => chunk;
  /** How many answers to a COMMIT were lost. */
  swallowed = 0;

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

  /** The address of a database, by way of this. */
  through(url: string): string {
    const through = new URL(url);
    through.host = `127.0.0.1:${this.port}`;
    return through.href;
  }

  /** New connections go there. */
  lead(port: number): void {
    this.#port = port;
  }

  /** Every piece of data waits so long on its way to the server. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** The next COMMIT of any connection meets this loss, and the connection is gone; later ones meet none. */
  loseNext(loss: Loss): void {
    this.#losses.push(loss);
  }

  /** From now on nothing passes over the connections that are open, and nobody is told; new ones work. */
  silence(): void {
    for (const pair of this.#pairs) pair.isSilent = true;
  }

  /** From now on nothing passes over any connection, nor over one that is opened later: the server is frozen. */
  freeze(): void {
    this.#isFrozen = true;
    this.silence();
  }

  /** From now on whatever matches is replaced on its way, to the server and back. */
  replace(pattern: RegExp, by: (found: string) => string): void {
    this.#replaced = (chunk) => Buffer.from(chunk.toString("latin1").replace(pattern, by), "latin1");
  }

  /** Cuts connections as a router does that forgets them: with a reset, in the middle of whatever is said. */
  cutAll(): void {
    for (const { client, upstream } of [...this.#pairs]) {
      client.resetAndDestroy();
      upstream.resetAndDestroy();
    }
  }

  /** Ends one direction only: whoever is connected may still speak, and hears nothing any more. */
  halfClose(): void {
    for (const { client } of this.#pairs) client.end();
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
    const pair: Pair = { client, upstream, isSilent: this.#isFrozen, isSwallowing: false };
    this.#pairs.add(pair);
    for (const socket of [client, upstream]) {
      // Either side may report the cut; what the store makes of it is what is looked at.
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#pairs.delete(pair);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (chunk) => this.#forward(pair, chunk));
    client.on("end", () => upstream.end());
    upstream.on("data", (chunk) => this.#back(pair, chunk));
    upstream.on("end", () => client.end());
  }

  #forward(pair: Pair, chunk: Buffer): void {
    if (pair.isSilent) return;
    const loss = chunk.includes(COMMIT) ? this.#losses.shift() : undefined;
    if (loss === "commit") {
      pair.client.destroy();
      return;
    }
    pair.isSwallowing ||= loss === "answer";
    const write = (): void => {
      if (pair.upstream.writable) pair.upstream.write(this.#replaced(chunk));
    };
    if (this.#delayMs === 0) write();
    else setTimeout(write, this.#delayMs);
  }

  #back(pair: Pair, chunk: Buffer): void {
    if (pair.isSwallowing) {
      // The answer shows that the server has committed; only then the connection is cut.
      this.swallowed += 1;
      pair.client.destroy();
    } else if (!pair.isSilent && pair.client.writable) {
      pair.client.write(this.#replaced(chunk));
    }
  }
}

/** Lends a way to the server of this database. */
export async function withWire<T>(url: string, use: (wire: Wire) => Promise<T>): Promise<T> {
  const wire = await Wire.to(Number(new URL(url).port));
  try {
    return await use(wire);
  } finally {
    await wire.close();
  }
}
