import { setTimeout as sleep } from "node:timers/promises";
import type { Clock, Log } from "../../domain/index.ts";
import type { Encryptor } from "../../encryption/index.ts";
import type { CapturedRequest, Captures } from "../../store/index.ts";
import type { CaptureLine } from "../listen/index.ts";
import { type CapturePosition, decryptCapture, formatPosition } from "./captured-request.ts";

/** Where a reader begins: after a place, with what came lately, or with what comes from now on. */
export type StartPosition =
  | { readonly from: "position"; readonly position: CapturePosition }
  | { readonly from: "since"; readonly seconds: number }
  | { readonly from: "now" };

export interface FollowDependencies {
  readonly store: Captures;
  readonly encryptor: Encryptor;
  readonly clock: Clock;
  readonly log: Log;
}

const LOOK_EVERY_MS = 200;
const HEARTBEAT_MS = 5_000;
const AT_ONCE = { rows: 200, bytes: 4 * 1024 * 1024 };

/** What was kept, in its order, then what is kept from now on, until the signal. @throws what the database throws */
export async function* follow(
  beginning: StartPosition,
  deps: FollowDependencies,
  signal: AbortSignal,
): AsyncGenerator<CaptureLine, void, void> {
  const { store } = deps;
  const { hello, place } = await begin(beginning, deps);
  const { log } = place;
  let { id } = place;
  yield hello;
  let saidSweptTo = 0;
  let spokenAt = performance.now();
  while (!signal.aborted) {
    const requests = await store.after(id, AT_ONCE);
    const { deletedTo } = await store.extent();
    if (deletedTo > Math.max(id, saidSweptTo)) {
      saidSweptTo = deletedTo;
      yield { line: "swept" };
    }
    for (const request of requests) {
      id = request.id;
      yield lineOf(request, formatPosition({ log, id }), deps);
    }
    if (requests.length > 0) spokenAt = performance.now();
    else if (performance.now() - spokenAt >= HEARTBEAT_MS) {
      spokenAt = performance.now();
      yield { line: "heartbeat" };
    } else await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

async function begin(
  beginning: StartPosition,
  { store, clock }: FollowDependencies,
): Promise<{ readonly hello: CaptureLine; readonly place: CapturePosition }> {
  const { log, newestId } = await store.extent();
  const at = (id: number, database: "same" | "another" | "older" = "same") => {
    const place = { log, id };
    return { place, hello: { line: "hello", at: formatPosition(place), database } as const };
  };
  if (beginning.from === "now") return at(newestId);
  if (beginning.from === "since") {
    return at(await store.idBefore(new Date(clock.now().getTime() - beginning.seconds * 1_000)));
  }
  const { position: place } = beginning;
  // Whatever is kept there is new to this reader.
  if (place.log !== log) return at(0, "another");
  // A database that was put back to an earlier state: what it has was seen, and its next ids mean other requests.
  return place.id > newestId ? at(newestId, "older") : at(place.id);
}

function lineOf(request: CapturedRequest, at: string, { encryptor, log }: FollowDependencies): CaptureLine {
  try {
    const { receivedAt, method, url, rawHeaders, body } = decryptCapture(request, encryptor);
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
