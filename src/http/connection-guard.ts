import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { getOrMake } from "../domain/index.ts";
import { createMinuteCounter } from "../observability/index.ts";
import { type DeadlineEntry, DeadlineList, TokenBucket } from "../system/index.ts";
import type { ConnectionLimit } from "./connection-limit.ts";
import { assertParser, type OnBody, onBodyOf, type Parser, parserOf } from "./parser-internals.ts";

interface GuardOptions {
  readonly limit: ConnectionLimit;
  /** How long a client may take to read a response, from the moment it is complete. */
  readonly writeTimeoutMs: number;
  /** Receives, at most once a minute and reason, how many connections were closed. */
  readonly report: (reason: string, closed: number) => void;
}

type Handler = (message: IncomingMessage, response: ServerResponse) => void;

interface SocketState {
  /** The response that is not flushed yet. */
  current: ServerResponse | undefined;
  /** The turn of the event loop in which the last one arrived. */
  arrivedIn: number;
  isNextWaiting: boolean;
  /** It sent too many requests at once; the rest is dropped. */
  isRefused: boolean;
}

const newState = () => ({ current: undefined, arrivedIn: 0, isNextWaiting: false, isRefused: false });

/** llhttp ends a chunk after a request with an upgrade; this is how `onIncoming` reports one. */
const STOP_PARSING = (): number => 2;

/**
 * One request of a connection is at work at a time (decision 0052). Node parses a chunk of 64 KB in one turn of the event loop,
 * which is thousands of requests. A second request before the response to the first is complete ends the connection, after that
 * response. A response that the client does not read ends it too. Takes the place of the server's handlers.
 */
export function guardConnections(server: Server, { limit, writeTimeoutMs, report }: GuardOptions) {
  assertParser();
  const counterFor = (reason: string) => createMinuteCounter((count) => report(reason, count));
  const pipelined = counterFor("they sent further requests before the response to the first (HTTP pipelining)");
  const unread = counterFor("their clients did not read a response in time");
  const pieces = counterFor("they sent bodies in too many small pieces");
  const smallPieces = createSmallPieces(pieces.add);
  const closeUnread = (socket: Socket): void => {
    unread.add();
    socket.destroy();
  };
  const requests = createRequests(limit, new DeadlineList(writeTimeoutMs, closeUnread, false), pipelined.add);
  const handlers = server.listeners("request") as Handler[];
  const handle: Handler = (message, response) => {
    for (const handler of handlers) handler.call(server, message, response);
  };

  server.removeAllListeners("request");
  server.on("request", (message: IncomingMessage, response: ServerResponse) => {
    smallPieces.began(message.socket);
    // RFC 9112 §3.2: a request of HTTP/1.1 has a Host.
    const lacksHost = message.headers.host === undefined && message.httpVersion === "1.1";
    requests.arrived(message, response, lacksHost ? refuseHost : handle);
  });
  // Node itself responds to these two otherwise, as many as come at once.
  server.on("checkExpectation", (message: IncomingMessage, response: ServerResponse) =>
    requests.arrived(message, response, refuseExpectation),
  );
  Object.assign(server, { requireHostHeader: false });
  // The rest of a dropped chunk is no request.
  const onError = server.listeners("clientError");
  server.removeAllListeners("clientError");
  server.on("clientError", (error: Error, socket: Socket) => {
    if (requests.isRefused(socket)) return;
    for (const listener of onError) Reflect.apply(listener, server, [error, socket]);
  });
  return {
    close(): void {
      for (const counter of [pipelined, unread, pieces]) counter.close();
    },
  };
}

function createRequests(limit: ConnectionLimit, unread: DeadlineList<Socket>, onPipelined: () => void) {
  const states = new WeakMap<Socket, SocketState>();
  const loopTurn = createLoopTurns();

  /** @param run handles the request, now or once the response before it is flushed; never called for one that is dropped */
  function arrived(message: IncomingMessage, response: ServerResponse, run: Handler): void {
    const { socket } = message;
    const state = getOrMake(states, socket, newState);
    const { current, arrivedIn } = state;
    if (state.isRefused) return;
    state.arrivedIn = loopTurn();
    // Node runs microtasks between a chunk's parts: the first response may be out before the second request is parsed.
    if (arrivedIn === state.arrivedIn) refuse(state, socket);
    else if (current === undefined) start(state, message, response, run);
    else if (!current.writableEnded || state.isNextWaiting) refuse(state, socket);
    else {
      // Over TLS a client can have read a response before it is reported as flushed.
      state.isNextWaiting = true;
      current.once("close", () => {
        state.isNextWaiting = false;
        if (!state.isRefused && !socket.destroyed) start(state, message, response, run);
      });
    }
  }

  function start(state: SocketState, message: IncomingMessage, response: ServerResponse, run: Handler): void {
    const { socket } = message;
    state.current = response;
    limit.requestStarted(socket);
    let isAtWork = true;
    let late: DeadlineEntry<Socket> | undefined;
    const done = (): void => {
      if (isAtWork) limit.requestEnded(socket);
      isAtWork = false;
    };
    // Each of these events comes once; `on` makes no wrapper for it.
    response.on("prefinish", () => {
      done();
      if (socket.writableLength > 0) late = unread.add(socket);
    });
    response.on("close", () => {
      done();
      if (late !== undefined) unread.remove(late);
      state.current = undefined;
    });
    run(message, response);
  }

  function refuse(state: SocketState, socket: Socket): void {
    const { current } = state;
    state.isRefused = true;
    onPipelined();
    const parser = parserOf(socket);
    if (parser) parser.onIncoming = STOP_PARSING;
    // A stream would go on for as long as its reader stays.
    if (current?.headersSent && !current.writableEnded) return void socket.destroy();
    socket.pause();
    if (current === undefined) return socket.destroySoon();
    current.shouldKeepAlive = false;
    current.once("close", () => socket.destroySoon());
  }

  return { arrived, isRefused: (socket: Socket) => states.get(socket)?.isRefused ?? false };
}

/** Numbers the turns of the event loop, from 1; counts only while it is asked. */
function createLoopTurns(): () => number {
  let turn = 0;
  let isCounted = false;
  const ended = (): void => {
    isCounted = false;
  };
  return () => {
    if (!isCounted) {
      isCounted = true;
      turn += 1;
      setImmediate(ended);
    }
    return turn;
  };
}

function refuseWith(status: number): Handler {
  return (_message, response) => void response.writeHead(status, { connection: "close" }).end();
}

const refuseHost = refuseWith(400);
/** RFC 9110 §10.1.1. */
const refuseExpectation = refuseWith(417);

/** A smaller piece costs more by its number than by its bytes. */
const SMALL_BYTES = 1_024;
const FREE_OF_EACH_BODY = 16;
/** For all bodies together, beside the first few of each. At 2 µs or more each: a twenty-fifth of the time. */
const A_SECOND = 20_000;
const AT_ONCE = 4_000;

/**
 * Bounds the small pieces in which bodies arrive, such as chunks (RFC 9112 §7.1) and TLS records. Node copies and passes on each
 * piece, and parses a read of 64 KB in one event loop turn. Then 11,000 chunks of one byte take 17 ms and more. Past the bound
 * the connection is closed. The rest of its read is parsed without a call for each, in about 1 ms.
 */
function createSmallPieces(onClosed: () => void) {
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
      const parser = known === undefined ? parserOf(socket) : undefined;
      const at = parser && onBodyOf(parser);
      if (known !== undefined) known.free = FREE_OF_EACH_BODY;
      else if (parser && at !== undefined) watch(socket, parser, at);
    },
  };
}
