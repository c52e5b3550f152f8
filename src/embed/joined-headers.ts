import type { Exchange } from "../receive/index.ts";

/** Headers that a server has joined already, as the parts of an exchange that hold them. Undefined ones were not sent. */
export function joinedHeaders(pairs: Iterable<readonly [string, string | undefined]>) {
  const headers: Record<string, string> = {};
  const distinctHeaders: Record<string, string[]> = Object.create(null);
  const rawHeaders: string[] = [];
  for (const [name, value] of pairs) {
    if (value === undefined) continue;
    headers[name.toLowerCase()] = value;
    distinctHeaders[name.toLowerCase()] = [value];
    rawHeaders.push(name, value);
  }
  return { headers, distinctHeaders, rawHeaders } satisfies Pick<
    Exchange,
    "headers" | "distinctHeaders" | "rawHeaders"
  >;
}
