import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { openRequest } from "../../system/index.ts";
import { type CapturedRequest, Disconnected, errorCode, isTlsError, tlsAdvice } from "./capture-stream.ts";

export type Delivered = NonNullable<Awaited<ReturnType<typeof deliver>>>;

export interface DeliverOptions {
  /** The server at this machine; without a path here a request keeps the one it came with. */
  readonly to: URL;
  readonly log: (words: string) => void;
  /** Begins no further try. */
  readonly stopping: AbortSignal;
  /** Gives up the try under way. */
  readonly abandoned: AbortSignal;
}

/** Hop-by-hop headers (RFC 9110 §7.6.1), and those set again for this connection. */
const CONNECTION_HEADER =
  /^(connection|content-length|expect|host|keep-alive|proxy-(authenticate|authorization|connection)|te|trailer|transfer-encoding|upgrade)$/i;

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 2_000;
const LOG_SLOW_AFTER_MS = 10_000;

/**
 * Sends a request as it came, with the same bytes, until the server responds with any status. The server may be restarted
 * meanwhile, and a debugger may pause it for any time.
 * @returns undefined where it was given up
 * @throws Disconnected where the server's certificate is not trusted
 */
export async function deliver(request: CapturedRequest, options: DeliverOptions) {
  const { to, log, stopping, abandoned } = options;
  let delayMs = FIRST_DELAY_MS;
  let isSilent = false;
  while (!stopping.aborted) {
    const startedAt = performance.now();
    const slow = setTimeout(() => log(`still waiting for the answer of ${to.origin}`), LOG_SLOW_AFTER_MS);
    try {
      const status = await send(request, to, abandoned);
      if (isSilent) log(`${to.origin} answers again`);
      return { status, durationMs: performance.now() - startedAt };
    } catch (error) {
      if (abandoned.aborted) return undefined;
      if (isTlsError(error)) throw new Disconnected(tlsAdvice(to.origin, error), "never");
      if (!isSilent) log(`${to.origin} does not answer (${errorCode(error)}); callbacks wait until it does`);
      isSilent = true;
    } finally {
      clearTimeout(slow);
    }
    await sleep(delayMs, undefined, { signal: stopping }).catch(() => {});
    delayMs = Math.min(LONGEST_DELAY_MS, delayMs * 2);
  }
  return undefined;
}

/** Over a new connection: the server might close a kept one just as it is used. */
async function send(request: CapturedRequest, to: URL, signal: AbortSignal): Promise<number> {
  const body = Buffer.from(request.body, "base64");
  const headers = [
    ...endToEndHeaders(request.headers),
    ...["Host", to.host, "Content-Length", String(body.length), "Connection", "close"],
  ];
  const { method, url } = request;
  const options = { method, path: requestTarget(to, url), headers, agent: false, signal };
  const response = await openRequest(to, options, body);
  // The delivery has ended only with the whole response, whatever its body.
  await finished(response.resume());
  return response.statusCode ?? 0;
}

function requestTarget(to: URL, url: string): string {
  const mark = url.indexOf("?");
  const query = mark === -1 ? "" : url.slice(mark);
  return to.pathname === "/" && to.search === "" ? url : `${to.pathname}${to.search || query}`;
}

/** Names and values in turn, as they came, without those of the connection on which they came. */
function endToEndHeaders(raw: readonly string[]): string[] {
  const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ""] as const] : []));
  const dropped = new Set(
    pairs
      .filter(([name]) => name.toLowerCase() === "connection")
      .flatMap(([, value]) => value.split(",").map((one) => one.trim().toLowerCase())),
  );
  return pairs.filter(([name]) => !CONNECTION_HEADER.test(name) && !dropped.has(name.toLowerCase())).flat();
}
