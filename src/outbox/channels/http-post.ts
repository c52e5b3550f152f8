import type { Agent, Dispatcher } from "undici";
import type { AllowedAddresses } from "../allowed-addresses.ts";
import { DeliveryPostponedError, PermanentDeliveryError } from "../channel.ts";

export interface HttpTarget {
  readonly url: string;
  readonly addresses: AllowedAddresses;
  /** Certificates, in PEM, that may sign the receiver's; the system's by default. */
  readonly ca?: readonly string[];
}

/** How long the whole exchange of a delivery over HTTP may take. */
export const HTTP_TIME_LIMIT_MS = 20_000;
const HEADERS_LIMIT_MS = 15_000;
const BODY_LIMIT_MS = 2_000;
const MAX_ANSWER_BYTES = 65_536;
const MAX_REASON_LENGTH = 200;
const GONE = 410;

/** @param endpoint names the other side in errors @param quotesReason whether errors hold what the other side responds */
export function createHttpPost(
  { url, addresses, ca }: HttpTarget,
  endpoint = "the webhook's endpoint",
  quotesReason = false,
) {
  const { hostname } = new URL(url);
  let agent: Agent | undefined;
  return {
    /**
     * Posts JSON to an allowed address. Redirects are not followed: a 3xx is a failure.
     * @throws PermanentDeliveryError for 410; DeliveryPostponedError where `Retry-After` asks for a pause; another Error
     */
    async post(body: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
      addresses.assertHost(hostname);
      // Loaded with the first delivery: at the start it would double the time until the process serves.
      const undici = await import("undici");
      agent ??= new undici.Agent({
        connect: { lookup: addresses.lookup, ...(ca === undefined ? {} : { ca: [...ca] }) },
        headersTimeout: HEADERS_LIMIT_MS,
      });
      const response = await undici.request(url, {
        dispatcher: agent,
        method: "POST",
        signal,
        body,
        headers: { ...headers, "content-type": "application/json", "user-agent": "oncehook" },
      });
      const { statusCode: status } = response;
      const isDelivered = status >= 200 && status < 300;
      const reason = quotesReason && !isDelivered ? await startOf(response.body) : "";
      // The status decides: a body that drips, breaks off or never ends changes nothing. A short one is read, so that its
      // connection can be used again.
      const read = { limit: MAX_ANSWER_BYTES, signal: AbortSignal.timeout(BODY_LIMIT_MS) };
      response.body.dump(read).catch(() => {});
      if (!isDelivered) throw failureOf(endpoint, status, reason, response.headers["retry-after"]);
    },
    /** Every attempt has ended by then; nothing waits for the rest of a response. */
    close: async (): Promise<void> => agent?.destroy(),
  };
}

/** The services say in a few words what is wrong with a message or an address. */
async function startOf(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const limit = setTimeout(() => body.destroy(), BODY_LIMIT_MS);
  let text = "";
  try {
    for await (const chunk of body) {
      text += String(chunk);
      if (text.length >= MAX_REASON_LENGTH) break;
    }
  } catch {
    // The part that arrived is enough.
  } finally {
    clearTimeout(limit);
  }
  return text.slice(0, MAX_REASON_LENGTH).replace(/\s+/g, " ").trim();
}

function failureOf(endpoint: string, status: number, reason: string, retryAfter: string | string[] | undefined): Error {
  const because = reason === "" ? "" : `: ${reason}`;
  if (status === GONE) return new PermanentDeliveryError(`${endpoint} answered 410 (Gone)${because}`);
  const redirects = status >= 300 && status < 400 ? "; redirects are not followed" : "";
  const message = `${endpoint} answered ${status}, expected 2xx${redirects}${because}`;
  // RFC 9110 §10.2.3; the form with a date is rare, and the schedule does without it.
  if (typeof retryAfter === "string" && /^\d{1,6}$/.test(retryAfter))
    return new DeliveryPostponedError(message, Number(retryAfter));
  return new Error(message);
}
