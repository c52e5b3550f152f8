import { createServer } from "node:net";

/**
 * Below the range from which systems take the ports of outgoing connections, so that none of those takes a port
 * between the moment it is found free and the moment a server listens on it. Each worker has a range of its own.
 */
const FIRST = 11_000;
const RANGE = 5_000;
const WORKERS = 4;

let next = Math.floor(Math.random() * RANGE);

/** A port on which a server of this test can listen. */
export async function freePort(): Promise<number> {
  const worker = Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS;
  for (;;) {
    next = (next + 1) % RANGE;
    const port = FIRST + worker * RANGE + next;
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
      .once("error", () => resolve(false))
      .listen(port, () => probe.close(() => resolve(true)));
  });
}
