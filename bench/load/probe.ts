import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { type Event, signedEvent } from "./event-file.ts";

/** Sends one event, as `post.lua` does. */
export function send(url: string, { signature, body }: Event, agent?: Agent): Promise<number> {
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-event-type": "payment_notify",
    "x-signature": signature,
    "idempotency-key": JSON.parse(body).event_id,
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers, ...(agent && { agent }) }, (response) => {
      text(response).then(() => resolve(Number(response.statusCode)), reject);
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

const PROBES = 8;

/**
 * A few connections beside an overload that send one event after the other, since wrk cannot tell the latency of what was
 * accepted from that of what was turned away. Resolves with the latencies of accepted events, in milliseconds.
 */
export async function probe(url: string, until: AbortSignal): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: PROBES });
  const latencies: number[] = [];
  async function one(): Promise<void> {
    while (!until.aborted) {
      const event = signedEvent();
      const startedAt = performance.now();
      // A refused connection is wrk's to count; it must not turn into a busy loop here either.
      const status = await send(url, event, agent).catch(() => 0);
      if (status === 200) latencies.push(performance.now() - startedAt);
      else await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  await Promise.all(Array.from({ length: PROBES }, one));
  agent.destroy();
  return latencies;
}
