import type { EventKey } from "../domain/index.ts";

/** An authentic event as its platform sent it. */
export interface Original extends EventKey {
  readonly eventType: string;
  readonly version: string;
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly method: string;
  /** Path and query exactly as they were sent. */
  readonly target: string;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
  /** The body's bytes; of an event of a batch those of its item. */
  readonly body: Uint8Array;
}

type Head = readonly [
  source: string,
  eventId: string,
  eventType: string,
  version: string,
  receivedAtMs: number,
  method: string,
  target: string,
  rawHeaders: readonly string[],
  bodyBytes: number,
];

/** The parts that the event's record has, and those of its request. */
type OfRecord = Pick<Original, "source" | "eventId" | "eventType" | "version">;
type OfRequest = Pick<Original, "method" | "target" | "rawHeaders" | "body">;

const LENGTH_BYTES = 4;
const HEAD_FIELDS = 9;

/** Collects the originals of a block. */
export class OriginalBlockWriter {
  readonly #fields: Head[number][] = [];
  readonly #bodies: Uint8Array[] = [];
  #bodyBytes = 0;

  add({ source, eventId, eventType, version }: OfRecord, receivedAtMs: number, request: OfRequest): void {
    const { method, target, rawHeaders, body } = request;
    this.#fields.push(source, eventId, eventType, version, receivedAtMs, method, target, rawHeaders, body.length);
    this.#bodies.push(body);
    this.#bodyBytes += body.length;
  }

  /**
   * Layout: 4 bytes with the length of a JSON text. That text, with the fields of the heads in turn, and the bodies follow. A
   * list of lists would take twice as long, on the path of each event.
   */
  encode(): Buffer {
    const text = JSON.stringify(this.#fields);
    const textBytes = Buffer.byteLength(text);
    const block = Buffer.allocUnsafe(LENGTH_BYTES + textBytes + this.#bodyBytes);
    block.writeUInt32BE(textBytes);
    block.write(text, LENGTH_BYTES);
    let at = LENGTH_BYTES + textBytes;
    for (const body of this.#bodies) {
      block.set(body, at);
      at += body.length;
    }
    return block;
  }
}

export function encodeOriginals(originals: readonly Original[]): Buffer {
  const block = new OriginalBlockWriter();
  for (const original of originals) block.add(original, Date.parse(original.receivedAt), original);
  return block.encode();
}

/** @throws Error where the bytes are no block */
export function decodeOriginals(block: Buffer): Original[] {
  const textBytes = block.readUInt32BE(0);
  let at = LENGTH_BYTES + textBytes;
  const fields: readonly unknown[] = JSON.parse(block.toString("utf8", LENGTH_BYTES, at));
  const originals: Original[] = [];
  for (let field = 0; field < fields.length; field += HEAD_FIELDS) {
    const head = fields.slice(field, field + HEAD_FIELDS) as unknown as Head;
    const [source, eventId, eventType, version, receivedAtMs, method, target, rawHeaders, bodyBytes] = head;
    const receivedAt = new Date(receivedAtMs).toISOString();
    const body = block.subarray(at, at + bodyBytes);
    at += bodyBytes;
    originals.push({ source, eventId, eventType, version, receivedAt, method, target, rawHeaders, body });
  }
  return originals;
}
