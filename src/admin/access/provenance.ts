import type { IncomingHttpHeaders } from "node:http";

/** Which page has sent a request; scripts outside of browsers say nothing of it. */
export type Provenance = "own page" | "elsewhere" | "no browser";

/**
 * By `Sec-Fetch-Site`, which browsers set and pages cannot, and by `Origin` where there is none: plain HTTP to anything but
 * loopback. Every browser of today sends one of the two with whatever may change something.
 * @param baseUrl the origin that operators use, where a proxy hands another `Host` on
 */
export function comesFrom(headers: IncomingHttpHeaders, baseUrl: string | null): Provenance {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin" ? "own page" : "elsewhere";
  if (headers.origin === undefined) return "no browser";
  const origin = URL.parse(headers.origin);
  const isOwn = origin !== null && (origin.origin === baseUrl || origin.host === headers.host);
  return isOwn ? "own page" : "elsewhere";
}

/** The name in `Host`, without the port; undefined where it is no host. */
export function hostnameOf({ host }: IncomingHttpHeaders): string | undefined {
  return URL.parse(`http://${host}`)?.hostname;
}
