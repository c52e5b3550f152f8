const MOST_BYTES = 1_048_576;
const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** `fetch` that follows no redirect and reads no answer without end; for what a platform's server answers. */
export async function boundedFetch(url: string, init: object = {}): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: "manual" });
  const { status, headers } = response;
  if (response.body === null || WITHOUT_BODY.has(status)) return response;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > MOST_BYTES)
      throw new Error(`${new URL(url).origin} answers with more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status, headers: plain(headers) });
}

/** The body is decoded already, so it is neither compressed nor of the length that was announced. */
function plain(headers: Headers): Headers {
  const copy = new Headers(headers);
  copy.delete("content-encoding");
  copy.delete("content-length");
  return copy;
}
