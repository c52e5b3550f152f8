import { Gauge, type Registry } from "prom-client";
import { unlessSlow } from "./unless-slow.ts";

/** What a receiver stands on, asked at each scrape. */
export interface Surroundings {
  /** How many callbacks may be at work or wait: `MAX_WAITING_CALLBACKS`. */
  readonly mostWaitingCallbacks: number;
  /** Resolves when the database answers. */
  readonly ping: () => Promise<void>;
  /** How many bytes are free where the embedded database lies; absent where the database is a server's. */
  readonly freeBytes?: () => Promise<number>;
}

/** The gauges that tell a receiver that is up from one that can work. */
export function registerSurroundings(
  registers: Registry[],
  { mostWaitingCallbacks, ping, freeBytes }: Surroundings,
): void {
  new Gauge({
    name: "oncehook_waiting_callbacks_limit",
    help: "MAX_WAITING_CALLBACKS, the bound of oncehook_waiting_callbacks.",
    registers,
  }).set(mostWaitingCallbacks);
  new Gauge({
    name: "oncehook_database_up",
    help: "Whether the database answered at this scrape: 1 or 0.",
    registers,
    async collect() {
      const answered = unlessSlow(async () => ping().then(() => 1));
      this.set((await answered.catch(() => 0)) ?? 0);
    },
  });
  if (freeBytes === undefined) return;
  new Gauge({
    name: "oncehook_database_free_bytes",
    help: "Bytes that are free on the disk of the embedded database.",
    registers,
    async collect() {
      const free = await unlessSlow(freeBytes).catch(() => undefined);
      if (free === undefined) this.remove();
      else this.set(free);
    },
  });
}
