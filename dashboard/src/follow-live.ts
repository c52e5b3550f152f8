import type { CallbackFilters, LiveEvent } from "oncehook/admin-client";
import { api, isFinal, isStatus } from "./client.ts";
import { toSignIn } from "./queries.ts";

const RECONNECT_DELAY_MS = 5_000;

/**
 * The live stream until the signal. A failed first connection is tried again too: a busy or restarting receiver returns.
 * @throws AdminError where the receiver refuses the stream
 */
export async function* followLive(
  filters: CallbackFilters,
  signal: AbortSignal,
): AsyncGenerator<LiveEvent, void, void> {
  while (!signal.aborted) {
    try {
      yield* api.live(filters, { signal });
    } catch (error) {
      if (isStatus(error, 401)) toSignIn();
      if (isFinal(error)) throw error;
      yield { event: "disconnected" };
      await pause(signal);
    }
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, RECONNECT_DELAY_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
