import type { EventKey } from "../domain/index.ts";
import { compress, decompress } from "./compression.ts";

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
  receivedAt: string,
  method: string,
  target: string,
  rawHeaders: readonly string[],
  bodyBytes: number,
];

const LENGTH_BYTES = 4;

/**
 * Layout before it is compressed: 4 bytes with the length of a JSON text. That text, with the heads of the events, and the
 * bodies follow.
 * @param hasZstd for tests
 */
export function encodeOriginals(originals: readonly Original[], hasZstd?: boolean): Buffer {
  const heads = originals.map((one): Head => {
    const { source, eventId, eventType, version, receivedAt, method, target, rawHeaders, body } = one;
    return [source, eventId, eventType, version, receivedAt, method, target, rawHeaders, body.length];
  });
  const text = Buffer.from(JSON.stringify(heads));
  const length = Buffer.allocUnsafe(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  const plain = Buffer.concat([length, text, ...originals.map(({ body }) => body)]);
  return compress(plain, hasZstd);
}

/** @throws Error where this Node.js cannot read the compression, or the bytes are no block */
export function decodeOriginals(block: Uint8Array): Original[] {
  const plain = decompress(block);
  const textBytes = plain.readUInt32BE(0);
  let at = LENGTH_BYTES + textBytes;
  const heads = JSON.parse(plain.toString("utf8", LENGTH_BYTES, at)) as readonly Head[];
  return heads.map(([source, eventId, eventType, version, receivedAt, method, target, rawHeaders, bodyBytes]) => {
    const body = plain.subarray(at, at + bodyBytes);
    at += bodyBytes;
    return { source, eventId, eventType, version, receivedAt, method, target, rawHeaders, body };
  });
}
