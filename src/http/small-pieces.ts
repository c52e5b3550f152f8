import type { Socket } from "node:net";
import { TokenBucket } from "./admission.ts";

type OnBody = (piece: Uint8Array) => unknown;

/** Node's parser, as the socket carries it: it calls a function of its own for each piece of a body. Not documented. */
type Parser = Record<number, OnBody | undefined>;

/** What costs more by its number than by its bytes. */
const SMALL_BYTES = 1_024;
const FREE_OF_EACH_BODY = 16;
/** What all bodies may have together, beside the first few of each. 2 µs each at least: a twenty-fifth of the time. */
const A_SECOND = 20_000;
const AT_ONCE = 4_000;
const KINDS_OF_CALLS = 16;

/**
 * Bounds the small pieces in which bodies arrive, such as chunks (RFC 9112 §7.1) and TLS records. Node copies each piece and
 * passes it on, and parses a read of 64 KB in one turn of the event loop: 11,000 chunks of a byte take 17 ms and more. Past the
 * bound the connection is closed. The rest of its read is parsed without a call for each, in about 1 ms.
 */
export function createSmallPieces(onClosed: () => void) {
  const bucket = new TokenBucket(A_SECOND, AT_ONCE);
  const watched = new WeakMap<Socket, { free: number }>();

  function isAllowed(body: { free: number }): boolean {
    if (body.free === 0) return bucket.take();
    body.free -= 1;
    return true;
  }

  function watch(socket: Socket, parser: Parser, at: number): void {
    const body = { free: FREE_OF_EACH_BODY };
    const onBody = parser[at] as OnBody;
    watched.set(socket, body);
    parser[at] = function (this: unknown, piece) {
      if (piece.length >= SMALL_BYTES || isAllowed(body)) return onBody.call(this, piece);
      parser[at] = undefined;
      onClosed();
      return socket.destroy();
    };
    // Node uses it again for another connection.
    socket.once("close", () => {
      parser[at] = onBody;
    });
  }

  return {
    began(socket: Socket): void {
      const known = watched.get(socket);
      if (known !== undefined) {
        known.free = FREE_OF_EACH_BODY;
        return;
      }
      const { parser } = socket as { parser?: Parser | null };
      const at = parser ? onBodyOf(parser) : undefined;
      if (parser && at !== undefined) watch(socket, parser, at);
    },
  };
}

function onBodyOf(parser: Parser): number | undefined {
  for (let at = 0; at < KINDS_OF_CALLS; at += 1) if (parser[at]?.name === "parserOnBody") return at;
  return undefined;
}
