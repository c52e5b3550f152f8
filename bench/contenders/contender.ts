import type { Load } from "../load/wrk.ts";
import type { ServerProcess } from "../machine/server-process.ts";

/** What a server is given for one round. */
export interface Place {
  /** Of this round alone, and empty unless the case keeps it. */
  readonly folder: string;
  /** Of PostgreSQL, for those that need one. */
  readonly databaseUrl: string;
  readonly processes: number;
  /** Configured sources, for those that know several. */
  readonly sources: number;
  /** Outside work before each event's transaction takes 20 ms. */
  readonly isSlow: boolean;
  /** For Node, where the server is one: what V8 reports of its heap. */
  readonly nodeOptions: readonly string[];
}

/** Of hand-written servers on PostgreSQL. On two cores 8, 16 and 32 measured alike, and 64 slower. */
export const POOL_SIZE = "16";

/** Tells a hand-written server how long its outside work takes. */
export const waitVariable = ({ isSlow }: Place): Record<string, string> => ({
  BENCH_WAIT_MS: isSlow ? "20" : "0",
});

export interface Serving {
  readonly servers: readonly ServerProcess[];
  /** One address for each process that serves callbacks. */
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

export interface Contender {
  readonly name: string;
  readonly title: string;
  /** Where it keeps events; one with `none` knows no duplicates. */
  readonly store: "none" | "sqlite" | "postgres" | "own";
  /** Whether it takes the event's id from a header of the request. */
  readonly isIdempotent: boolean;
  /** @throws with the reason why it cannot run here */
  version(): Promise<string>;
  start(place: Place): Promise<Serving>;
  /** Instead of wrk, for what does not speak HTTP. */
  drive?(place: Place, load: { seconds: number; connections: number }): Promise<Load>;
}

export function serving(servers: readonly ServerProcess[], urls: readonly string[]): Serving {
  return {
    servers,
    urls,
    async stop() {
      for (const server of servers) await server.stop();
    },
  };
}
