import { boundedFetch } from "../../http-client/index.ts";

/** Amazon waits 15 s for the response to its question. */
const TIMEOUT_MS = 8_000;

/** Requests an address that passed the pin; no redirect is followed. @throws Error for every status but 2xx */
export async function visitAddress(url: string): Promise<void> {
  const response = await boundedFetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${new URL(url).origin} answers ${response.status}`);
}
