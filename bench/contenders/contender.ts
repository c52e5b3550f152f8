import type { Load } from "../load/wrk.ts";
import type { ServerProcess } from "../machine/server-process.ts";

/** What a server is given for one round. */
export interface Place {
  /** Of this round alone, and empty unless the case keeps it. */
  readonly folder: string;
  /** Of PostgreSQL, for those that need one. */
  readonly databaseUrl: string;
  readonly processes: number;
  /** Outside work before each event's transaction takes 20 ms. */
  readonly isSlow: boolean;
}

export interface Serving {
  readonly servers: readonly ServerProcess[];
  /** One address for each process that serves callbacks. */
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

export interface Contender {
  readonly name: string;
  readonly title: string;
  /** Where it keeps events; `none` of them knows no duplicates. */
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
