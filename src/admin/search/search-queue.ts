import { HttpError } from "../operation.ts";

/** Each search takes the processor for much of its time, and any role may search. */
const [MAX_RUNNING, MAX_WAITING] = [2, 32];

const TOO_MANY =
  `${MAX_RUNNING} searches run on this process and ${MAX_WAITING} wait; try again in some seconds, ` +
  "and let a client wait for one search before it sends the next";

/** Runs a search once fewer than the maximum run, in order of arrival. */
export type SearchQueue = <T>(gone: AbortSignal, search: () => Promise<T>) => Promise<T>;

/** @throws HttpError where too many wait, and for a client that disconnects before its search begins */
export function createSearchQueue(): SearchQueue {
  const waiting = new Set<() => void>();
  let running = 0;

  async function begin(gone: AbortSignal): Promise<void> {
    if (running < MAX_RUNNING) {
      running += 1;
      return;
    }
    if (waiting.size >= MAX_WAITING) throw new HttpError(503, TOO_MANY, { "retry-after": "5" });
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        waiting.delete(start);
        reject(new HttpError(503, "the client disconnected before its search began"));
      };
      const start = () => {
        gone.removeEventListener("abort", leave);
        resolve();
      };
      waiting.add(start);
      gone.addEventListener("abort", leave);
    });
  }

  /** The next one takes its place directly, so that a newcomer does not overtake it. */
  function end(): void {
    const [start] = waiting;
    if (start === undefined) {
      running -= 1;
      return;
    }
    waiting.delete(start);
    start();
  }

  return async (gone, search) => {
    await begin(gone);
    try {
      return await search();
    } finally {
      end();
    }
  };
}
