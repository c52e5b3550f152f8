import zlib from "node:zlib";
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

/** The first byte of a block. */
const ZSTD = 1;
const DEFLATE = 2;
const LENGTH_BYTES = 4;
/** The repeated headers and payloads of a group compress well at once: higher levels cost more than they save. */
const ZSTD_FASTEST = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };
/** Node.js 22.15 and 23.8 have it first. */
const HAS_ZSTD = typeof zlib.zstdCompressSync === "function";

/**
 * Layout: one byte that names the compression, then the compressed bytes. Their first 4 bytes are the length of a JSON
 * text. The text with the heads of the events and the bodies follow.
 */
export function encodeOriginals(originals: readonly Original[], hasZstd = HAS_ZSTD): Buffer {
  const heads = originals.map((one): Head => {
    const { source, eventId, eventType, version, receivedAt, method, target, rawHeaders, body } = one;
    return [source, eventId, eventType, version, receivedAt, method, target, rawHeaders, body.length];
  });
  const text = Buffer.from(JSON.stringify(heads));
  const length = Buffer.allocUnsafe(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  const plain = Buffer.concat([length, text, ...originals.map(({ body }) => body)]);
  const compressed = hasZstd ? zlib.zstdCompressSync(plain, ZSTD_FASTEST) : zlib.deflateRawSync(plain, { level: 1 });
  return Buffer.concat([Buffer.of(hasZstd ? ZSTD : DEFLATE), compressed]);
}

/** @throws Error where this Node.js cannot read the compression, or the bytes are no block */
export function decodeOriginals(block: Uint8Array): Original[] {
  const plain = decompressed(block);
  const textBytes = plain.readUInt32BE(0);
  let at = LENGTH_BYTES + textBytes;
  const heads = JSON.parse(plain.toString("utf8", LENGTH_BYTES, at)) as readonly Head[];
  return heads.map(([source, eventId, eventType, version, receivedAt, method, target, rawHeaders, bodyBytes]) => {
    const body = plain.subarray(at, at + bodyBytes);
    at += bodyBytes;
    return { source, eventId, eventType, version, receivedAt, method, target, rawHeaders, body };
  });
}

function decompressed(block: Uint8Array): Buffer {
  const compressed = block.subarray(1);
  if (block[0] === DEFLATE) return zlib.inflateRawSync(compressed);
  if (block[0] !== ZSTD)
    throw new Error(`a block of originals begins with ${block[0]}, expected ${ZSTD} or ${DEFLATE}`);
  if (HAS_ZSTD) return zlib.zstdDecompressSync(compressed);
  throw new Error("a block of originals is compressed with zstd: read it with Node.js 22.15 or later");
}
