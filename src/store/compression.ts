import { promisify } from "node:util";
import * as zlib from "node:zlib";

/** The first byte says how the others are compressed. */
const PLAIN = 0;
const ZSTD = 1;
const DEFLATE = 2;
/** Rows that stand together compress well at once: higher levels cost more than they save. */
const ZSTD_FASTEST = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };
const DEFLATE_FASTEST = { level: 1 };
/** Node.js 22.15 and 23.8 have it first, and other runtimes may not. */
const HAS_ZSTD = typeof zlib.zstdCompressSync === "function";

/** Takes tens of microseconds for some kilobytes. */
export function compress(plain: Uint8Array, hasZstd = HAS_ZSTD): Buffer {
  return hasZstd
    ? marked(ZSTD, zlib.zstdCompressSync(plain, ZSTD_FASTEST))
    : marked(DEFLATE, zlib.deflateRawSync(plain, DEFLATE_FASTEST));
}

/** For what is compressed later, with more of its kind. */
export function uncompressed(plain: Uint8Array): Buffer {
  return marked(PLAIN, plain);
}

/** On a thread of the pool: no callback waits for it. */
export async function compressAside(plain: Uint8Array): Promise<Buffer> {
  return HAS_ZSTD
    ? marked(ZSTD, await promisify(zlib.zstdCompress)(plain, ZSTD_FASTEST))
    : marked(DEFLATE, await promisify(zlib.deflateRaw)(plain, DEFLATE_FASTEST));
}

/** @throws Error where this Node.js cannot read the compression, or the bytes are not compressed */
export function decompress(block: Uint8Array): Buffer {
  const compressed = block.subarray(1);
  if (block[0] === PLAIN) return Buffer.from(compressed.buffer, compressed.byteOffset, compressed.length);
  if (block[0] === DEFLATE) return zlib.inflateRawSync(compressed);
  if (block[0] !== ZSTD) throw new Error(`a block begins with ${block[0]}, expected ${PLAIN}, ${ZSTD} or ${DEFLATE}`);
  if (HAS_ZSTD) return zlib.zstdDecompressSync(compressed);
  throw new Error("a block is compressed with zstd: read it with Node.js 22.15 or later");
}

function marked(compression: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(compression), bytes]);
}
