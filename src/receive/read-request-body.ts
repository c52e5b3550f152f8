import type { IncomingMessage } from "node:http";
import { type Failed, failed, type Refused, refused } from "../domain/index.ts";
import type { UnverifiedBodies, UnverifiedBody } from "./unverified-bodies.ts";

export type BodyFault = Refused | Failed;

interface BodyLimits {
  readonly maxBytes: number;
  readonly address: string;
  readonly unverified: UnverifiedBodies;
}

const NOTHING = new Uint8Array();
const EVICTED =
  "the body was unfinished when MAX_UNVERIFIED_BYTES or a bound on connections was reached, or the receiver stopped";

/**
 * Reads at most `maxBytes` of the body, whatever was announced, and no more than there is room for.
 * @param ended receives the bytes, which count as unverified until `reservation` is released, or why they are not taken;
 *   `malformed_request` also where the client went away
 */
export function readRequestBody(
  message: IncomingMessage,
  { maxBytes, address, unverified }: BodyLimits,
  ended: (body: { readonly bytes: Uint8Array; readonly reservation: UnverifiedBody } | BodyFault) => void,
): void {
  // It emits nothing more: its client left while the request waited.
  if (message.destroyed) return ended(refused("malformed_request"));
  const { "content-length": length } = message.headers;
  const announced = length === undefined ? maxBytes : Number(length);
  if (announced > maxBytes) return ended(refused("body_too_large"));
  let isOver = false;
  const end = (fault: BodyFault): void => {
    if (isOver) return;
    isOver = true;
    message.pause();
    reservation.release();
    body.drop();
    ended(fault);
  };
  const reservation = unverified.begin(address, () => end(failed("overloaded", EVICTED)));
  const body = new BodyBuffer(announced, reservation);
  message.on("data", (chunk: Uint8Array) => {
    if (isOver) return;
    if (body.length + chunk.length > maxBytes) end(refused("body_too_large"));
    else if (!body.add(chunk)) end(failed("overloaded", EVICTED));
  });
  message.on("end", () => {
    if (isOver) return;
    isOver = true;
    reservation.complete();
    ended({ bytes: body.bytes(), reservation });
  });
  message.on("close", () => end(refused("malformed_request")));
}

/**
 * One piece stays as it arrived. Of several, each is copied and freed, since a body in pieces of a byte costs a hundred
 * times its size otherwise. The buffer grows by doubling: what was announced and is not sent takes no memory.
 */
class BodyBuffer {
  readonly #maxBytes: number;
  readonly #reservation: UnverifiedBody;
  #only: Uint8Array | undefined;
  #buffer: ArrayBuffer | undefined;
  length = 0;

  constructor(maxBytes: number, reservation: UnverifiedBody) {
    this.#maxBytes = maxBytes;
    this.#reservation = reservation;
  }

  add(chunk: Uint8Array): boolean {
    const after = this.length + chunk.length;
    if (this.length === 0) {
      if (!this.#reservation.reserve(chunk.length)) return false;
      this.#only = chunk;
    } else {
      if (!this.#grow(after)) return false;
      new Uint8Array(this.#buffer as ArrayBuffer).set(chunk, this.length);
      free(chunk);
    }
    this.length = after;
    return true;
  }

  #grow(needed: number): boolean {
    const had = this.#buffer?.byteLength ?? this.#only?.length ?? 0;
    if (needed <= had) return true;
    const capacity = Math.min(this.#maxBytes, Math.max(needed, 2 * had));
    if (!this.#reservation.reserve(capacity - had)) return false;
    if (this.#buffer === undefined) {
      this.#buffer = new ArrayBuffer(capacity);
      if (this.#only !== undefined) new Uint8Array(this.#buffer).set(this.#only);
      free(this.#only);
      this.#only = undefined;
    } else this.#buffer = this.#buffer.transfer(capacity);
    return true;
  }

  bytes(): Uint8Array {
    return this.#buffer === undefined ? (this.#only ?? NOTHING) : Buffer.from(this.#buffer, 0, this.length);
  }

  /** Gives the memory back at once, and not with the next collection of garbage. */
  drop(): void {
    free(this.#only);
    this.#buffer?.transfer(0);
    this.#only = undefined;
    this.#buffer = undefined;
  }
}

/** Memory of its own alone: a piece of a pool belongs to others too. */
function free(chunk: Uint8Array | undefined): void {
  const { buffer, byteLength = 0 } = chunk ?? {};
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength && byteLength > 0) buffer.transfer(0);
}
