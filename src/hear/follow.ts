import { setTimeout as sleep } from "node:timers/promises";
import type { Clock, Log } from "../domain/index.ts";
import type { Sealer } from "../seal/index.ts";
import type { HeardStore, StoredHeard } from "../store/index.ts";
import { openHeard } from "./heard-request.ts";
import { type HeardLine, type Place, writePlace } from "./lines.ts";

/** Where a reader begins: after a place, with what came lately, or with what comes from now on. */
export type Beginning =
  | { readonly from: "place"; readonly place: Place }
  | { readonly from: "since"; readonly seconds: number }
  | { readonly from: "now" };

export interface FollowDeps {
  readonly store: HeardStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly log: Log;
}

const LOOK_EVERY_MS = 200;
const HEARTBEAT_MS = 5_000;
const AT_ONCE = { rows: 200, bytes: 4 * 1024 * 1024 };

/** What was kept, in its order, then what is kept from now on, until the signal. @throws what the database throws */
export async function* follow(
  beginning: Beginning,
  deps: FollowDeps,
  signal: AbortSignal,
): AsyncGenerator<HeardLine, void, void> {
  const { store } = deps;
  const { hello, place } = await begin(beginning, deps);
  const { log } = place;
  let { id } = place;
  yield hello;
  let saidSweptTo = 0;
  let spokenAt = performance.now();
  while (!signal.aborted) {
    const requests = await store.after(id, AT_ONCE);
    const { sweptTo } = await store.extent();
    if (sweptTo > Math.max(id, saidSweptTo)) {
      saidSweptTo = sweptTo;
      yield { line: "swept" };
    }
    for (const request of requests) {
      id = request.id;
      yield lineOf(request, writePlace({ log, id }), deps);
    }
    if (requests.length > 0) spokenAt = performance.now();
    else if (performance.now() - spokenAt >= HEARTBEAT_MS) {
      spokenAt = performance.now();
      yield { line: "heartbeat" };
    } else await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

async function begin(
  beginning: Beginning,
  { store, clock }: FollowDeps,
): Promise<{ readonly hello: HeardLine; readonly place: Place }> {
  const { log, newestId } = await store.extent();
  const at = (id: number, database: "same" | "another" | "older" = "same") => {
    const place = { log, id };
    return { place, hello: { line: "hello", at: writePlace(place), database } as const };
  };
  if (beginning.from === "now") return at(newestId);
  if (beginning.from === "since") {
    return at(await store.idBefore(new Date(clock.now().getTime() - beginning.seconds * 1_000)));
  }
  const { place } = beginning;
  // Whatever is kept there is new to this reader.
  if (place.log !== log) return at(0, "another");
  // A database that was put back to an earlier state: what it has was seen, and its next ids mean other requests.
  return place.id > newestId ? at(newestId, "older") : at(place.id);
}

function lineOf(request: StoredHeard, at: string, { sealer, log }: FollowDeps): HeardLine {
  try {
    const { receivedAt, method, url, rawHeaders, body } = openHeard(request, sealer);
    return {
      line: "request",
      at,
      received_at: receivedAt.toISOString(),
      method,
      url,
      headers: rawHeaders,
      body: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("base64"),
    };
  } catch (error) {
    log.warn({ err: error, request_id: request.requestId }, "a request that was kept cannot be read");
    return { line: "unreadable", at };
  }
}
