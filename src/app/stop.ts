import type { Listener } from "../http/index.ts";

export type Step = () => Promise<void>;

/** Undoes the steps of a start, the last one first; one that fails does not keep the others from it. */
export async function stopAll(steps: Step[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps.splice(0).reverse()) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, "not everything could be stopped cleanly");
}

const LOOK_EVERY_MS = 50;

/**
 * Accepts nothing new and waits for what is under way. A connection that was busy when the closing began turns
 * idle later, and would be kept open for the next request of a client that never comes.
 */
export async function closeListener({ server, close }: Pick<Listener, "server" | "close">): Promise<void> {
  const timer = setInterval(() => server.closeIdleConnections(), LOOK_EVERY_MS);
  try {
    await close();
  } finally {
    clearInterval(timer);
  }
}
