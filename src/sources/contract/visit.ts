import { sendRequest } from "../../system/index.ts";

const TIME_LIMIT_MS = 5_000;
const MAX_BYTES = 65_536;

/**
 * Requests an address that a platform asks us to visit; its contract has pinned the host. No redirect is followed: it
 * would lead past the pin.
 * @throws Error where the response is no 2xx, or does not arrive in time
 */
export async function visitAddress(url: string, timeLimitMs = TIME_LIMIT_MS): Promise<void> {
  const target = new URL(url);
  const { status } = await sendRequest(target, { method: "GET", headers: {}, timeLimitMs, maxBytes: MAX_BYTES });
  if (status < 200 || status > 299) throw new Error(`${target.host} answered a visit with ${status}`);
}
