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
  receivedAt: string,
  method: string,
  target: string,
  rawHeaders: readonly string[],
  bodyBytes: number,
];

const LENGTH_BYTES = 4;
const HEAD_FIELDS = 9;

/**
 * Layout: 4 bytes with the length of a JSON text. That text, with the fields of the heads in turn, and the bodies follow. A list
 * of lists would take twice as long, on the path of each event.
 */
export function encodeOriginals(originals: readonly Original[]): Buffer {
  const fields: (string | number | readonly string[])[] = [];
  let bodyBytes = 0;
  for (const { source, eventId, eventType, version, receivedAt, method, target, rawHeaders, body } of originals) {
    fields.push(source, eventId, eventType, version, receivedAt, method, target, rawHeaders, body.length);
    bodyBytes += body.length;
  }
  const text = JSON.stringify(fields);
  const textBytes = Buffer.byteLength(text);
  const block = Buffer.allocUnsafe(LENGTH_BYTES + textBytes + bodyBytes);
  block.writeUInt32BE(textBytes);
  block.write(text, LENGTH_BYTES);
  let at = LENGTH_BYTES + textBytes;
  for (const { body } of originals) {
    block.set(body, at);
    at += body.length;
  }
  return block;
}

/** @throws Error where the bytes are no block */
export function decodeOriginals(block: Buffer): Original[] {
  const textBytes = block.readUInt32BE(0);
  let at = LENGTH_BYTES + textBytes;
  const fields: readonly unknown[] = JSON.parse(block.toString("utf8", LENGTH_BYTES, at));
  const originals: Original[] = [];
  for (let field = 0; field < fields.length; field += HEAD_FIELDS) {
    const head = fields.slice(field, field + HEAD_FIELDS) as unknown as Head;
    const [source, eventId, eventType, version, receivedAt, method, target, rawHeaders, bodyBytes] = head;
    const body = block.subarray(at, at + bodyBytes);
    at += bodyBytes;
    originals.push({ source, eventId, eventType, version, receivedAt, method, target, rawHeaders, body });
  }
  return originals;
}
