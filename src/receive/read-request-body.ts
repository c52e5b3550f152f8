import { type Failed, failed, type Refused, refused } from "../domain/index.ts";
import type { BodyReader, Exchange } from "./exchange.ts";
import { NO_BYTES } from "./request-context.ts";
import type { EndReason, UnverifiedBodies, UnverifiedBody } from "./unverified-bodies.ts";

export type BodyFault = Refused | Failed;

interface BodyLimits {
  readonly maxBytes: number;
  readonly address: string;
  readonly unverified: UnverifiedBodies;
}

type BodyEnded = (body: { readonly bytes: Uint8Array; readonly reservation: UnverifiedBody } | BodyFault) => void;

const EVICTED =
  "the body was unfinished when MAX_UNVERIFIED_BYTES or a bound on connections was reached, or the receiver stopped";

/**
 * Reads at most `maxBytes` of the body, whatever was announced, and no more than there is room for.
 * @param ended receives the bytes, which count as unverified until `reservation` is released, or the fault;
 *   `malformed_request` also where the client went away
 */
export function readRequestBody(exchange: Exchange, limits: BodyLimits, ended: BodyEnded): void {
  const { "content-length": length } = exchange.headers;
  const announced = length === undefined ? limits.maxBytes : Number(length);
  const body = new RequestBody(exchange, limits, announced, ended);
  // It reports at once a client that has left.
  exchange.readBody(body);
  if (announced > limits.maxBytes) body.fail(refused("body_too_large"));
}

/**
 * A single piece stays as it arrived. Each of several is copied and freed. A body in pieces of a byte would cost a
 * hundred times its size otherwise. The buffer grows by doubling: announced bytes that are not sent take no memory.
 */
class RequestBody implements BodyReader {
  readonly #exchange: Exchange;
  readonly #maxBytes: number;
  readonly #announced: number;
  readonly #ended: BodyEnded;
  readonly #reservation: UnverifiedBody;
  #only: Uint8Array | undefined;
  #buffer: ArrayBuffer | undefined;
  #length = 0;
  #isOver = false;

  constructor(exchange: Exchange, limits: BodyLimits, announced: number, ended: BodyEnded) {
    const end = (reason: EndReason) =>
      this.fail(reason === "late" ? refused("request_timeout") : failed("overloaded", EVICTED));
    this.#exchange = exchange;
    this.#maxBytes = limits.maxBytes;
    this.#announced = announced;
    this.#ended = ended;
    this.#reservation = limits.unverified.begin(limits.address, end);
  }

  piece(bytes: Uint8Array): void {
    // A stream of an application's Request may have empty pieces.
    if (this.#isOver || bytes.length === 0) return;
    if (this.#length + bytes.length > this.#maxBytes) this.fail(refused("body_too_large"));
    else if (!this.#add(bytes)) this.fail(failed("overloaded", EVICTED));
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reservation.complete();
    this.#ended({ bytes: this.#bytes(), reservation: this.#reservation });
  }

  lost(): void {
    this.fail(refused("malformed_request"));
  }

  consumed(cause: Error): void {
    this.fail(failed("body_consumed", cause));
  }

  fail(fault: BodyFault): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#exchange.stopReading();
    this.#reservation.release();
    this.#drop();
    this.#ended(fault);
  }

  /** @returns false where there is no room for it */
  #add(piece: Uint8Array): boolean {
    const after = this.#length + piece.length;
    if (this.#length === 0) {
      if (!this.#reservation.reserve(piece.length)) return false;
      this.#only = piece;
    } else {
      if (!this.#grow(after)) return false;
      new Uint8Array(this.#buffer as ArrayBuffer).set(piece, this.#length);
      this.#free(piece);
    }
    this.#length = after;
    return true;
  }

  #grow(needed: number): boolean {
    const had = this.#buffer?.byteLength ?? this.#only?.length ?? 0;
    if (needed <= had) return true;
    // A header of an application's Request may announce less than comes, or no number.
    const expected = Math.min(this.#announced, 2 * had);
    const capacity = expected > needed ? expected : needed;
    if (!this.#reservation.reserve(capacity - had)) return false;
    if (this.#buffer === undefined) {
      this.#buffer = new ArrayBuffer(capacity);
      if (this.#only !== undefined) new Uint8Array(this.#buffer).set(this.#only);
      this.#free(this.#only);
      this.#only = undefined;
    } else this.#buffer = this.#buffer.transfer(capacity);
    return true;
  }

  #bytes(): Uint8Array {
    if (this.#buffer === undefined) return this.#only ?? NO_BYTES;
    return Buffer.from(this.#buffer, 0, this.#length);
  }

  /** Gives the memory back at once, and not with the next collection of garbage. */
  #drop(): void {
    this.#free(this.#only);
    this.#buffer?.transfer(0);
    this.#only = undefined;
    this.#buffer = undefined;
  }

  /** Only memory that holds nothing else: a piece of a pool shares it. An application may hold the pieces as well. */
  #free(piece: Uint8Array | undefined): void {
    if (!this.#exchange.ownsPieces) return;
    const { buffer, byteLength = 0 } = piece ?? {};
    if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength && byteLength > 0) buffer.transfer(0);
  }
}
