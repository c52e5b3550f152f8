import { createServer } from "node:http";
import { Duplex } from "node:stream";

export type OnBody = (piece: Uint8Array) => unknown;

/** Node's parser of a connection, with a function for each kind of call at the first numbers. Decision 0093 has the list. */
export type Parser = { onIncoming?: unknown } & Record<number, OnBody | undefined>;

const KINDS_OF_CALLS = 16;

export function parserOf(socket: Duplex): Parser | undefined {
  return (socket as { readonly parser?: Parser | null }).parser ?? undefined;
}

/** The number of the call for each piece of a body. */
export function onBodyOf(parser: Parser): number | undefined {
  for (let at = 0; at < KINDS_OF_CALLS; at += 1) if (parser[at]?.name === "parserOnBody") return at;
  return undefined;
}

/** @throws Error that names the missing member and the version of Node @param parser default: one that Node makes now */
export function assertParser(parser = newParser()): void {
  if (parser === undefined) throw mismatch("socket.parser");
  if (typeof parser.onIncoming !== "function") throw mismatch("socket.parser.onIncoming");
  if (onBodyOf(parser) === undefined) throw mismatch("parserOnBody of socket.parser");
}

function newParser(): Parser | undefined {
  const socket = new Duplex({ read() {}, write: (_piece, _encoding, done) => done() });
  createServer().emit("connection", socket);
  const parser = parserOf(socket);
  const members = parser && { ...parser, onIncoming: parser.onIncoming };
  socket.destroy();
  return members;
}

function mismatch(member: string): Error {
  return new Error(
    `the HTTP parser of Node ${process.version} does not fit: there is no ${member}, with which requests are bounded. ` +
      "Run Node 24, the version that Oncehook was tested with",
  );
}
