import type { IncomingMessage } from "node:http";
import type { Exchange } from "../../receive/index.ts";

export type Http2Headers = Pick<Exchange, "headers" | "distinctHeaders" | "rawHeaders">;

/**
 * The headers of a request of HTTP/2 as those of HTTP/1.1: `:authority` is `host`, and the other pseudo-headers are left
 * out. Node's own `headersDistinct` is missing in such a request.
 */
export function http2Headers({ headers: joined, rawHeaders: sent }: IncomingMessage): Http2Headers {
  const headers: Record<string, string | string[] | undefined> = {};
  const distinctHeaders: Record<string, string[]> = Object.create(null);
  const rawHeaders: string[] = [];
  for (let index = 0; index < sent.length; index += 2) {
    const [field = "", value = ""] = sent.slice(index, index + 2);
    const isHost = field === ":authority" && joined.host === undefined;
    const name = isHost ? "host" : field;
    if (name.startsWith(":")) continue;
    headers[name] = isHost ? value : joined[name];
    distinctHeaders[name] = [...(distinctHeaders[name] ?? []), value];
    rawHeaders.push(name, value);
  }
  return { headers, distinctHeaders, rawHeaders };
}
