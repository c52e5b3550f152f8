import type { ServerResponse } from "node:http";

/** So long a reader may take nothing of what waits for it. */
const LONGEST_UNREAD_MS = 60_000;

/** Aborted once the reader of an answer has gone, which it also has when it took nothing for so long that it is cut off. */
export function readerOf(response: ServerResponse, longestUnreadMs = LONGEST_UNREAD_MS): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  response.setTimeout(longestUnreadMs, () => {
    if (response.writableLength > 0) response.destroy();
    // Nothing waits for it: the search has found nothing for so long, and goes on.
    else response.setTimeout(longestUnreadMs);
  });
  return gone.signal;
}
