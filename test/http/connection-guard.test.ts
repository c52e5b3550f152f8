import { once } from "node:events";
import {
  createServer,
  get as getPlain,
  type IncomingMessage,
  Agent as PlainAgent,
  type RequestListener,
  type Server,
} from "node:http";
import { Agent, createServer as createHttpsServer, get } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createConnectionLimit, guardConnections } from "../../src/http/index.ts";
import { signHmac } from "../../src/index.ts";
import { certificate } from "../support/certificate.ts";
import { lentReceiver } from "../support/lent-receiver.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { payment, SECRET } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const lent = lentReceiver();
beforeAll(lent.begin);
afterAll(lent.end);

const GET = "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n";
/** As many as fit in the 64 KB that Node reads at once. */
const MANY = 1_800;

function signed(sent: object): string {
  const body = JSON.stringify(sent);
  const signature = signHmac(SECRET, Buffer.from(body));
  const lines = `Host: x\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Signature: ${signature}`;
  return `POST /api/platform/callback HTTP/1.1\r\n${lines}\r\n\r\n${body}`;
}

/** How many requests came to no address, so far. */
async function worked(): Promise<number> {
  const { text } = (await lent.receiver.admin("/metrics")).body;
  return Number(/dropped_total\{reason="unknown_address"\} (\d+)/.exec(String(text))?.[1]);
}

interface Guarded {
  readonly server: Server;
  readonly port: number;
  readonly closed: [reason: string, count: number][];
  end(): Promise<void>;
}

/** A server with little else than the guard. */
async function guarded(
  server: Server,
  { most = 100, writeTimeoutMs = 60_000 }: { most?: number; writeTimeoutMs?: number } = {},
): Promise<Guarded> {
  const closed: [string, number][] = [];
  const limits = { max: most, maxPerAddress: most, isProxy: () => false };
  const limit = createConnectionLimit({ limits, endOldestBody: () => false, report: () => {} });
  server.on("connection", limit.accepted).on("secureConnection", limit.secured);
  const guard = guardConnections(server, {
    limit,
    writeTimeoutMs,
    report: (...report) => void closed.push(report),
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    server,
    port: (server.address() as AddressInfo).port,
    closed,
    async end() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
      guard.close();
    },
  };
}

/** Sends a request and reads nothing of the response, which is more than both sides' buffers hold. */
async function unreader({ server, port }: Guarded): Promise<Socket> {
  const accepted = once(server, "connection");
  const client = connect(port, "127.0.0.1").on("error", () => {});
  client.pause().write(GET);
  const [socket] = (await accepted) as [Socket];
  await until(() => socket.writableLength > 0);
  client.unref();
  unread.push(client);
  return socket;
}

const unread: Socket[] = [];
const large: RequestListener = (_message, response) => void response.end(Buffer.alloc(33_554_432));

/** The responses to what is sent over a connection that has had a response already. */
async function afterOne(origin: string, first: string, sent: string): Promise<string[]> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname).on("error", () => {});
  let text = "";
  socket.on("data", (chunk) => (text += chunk));
  socket.write(first);
  await until(() => text.includes("\r\n\r\n"));
  text = "";
  socket.write(sent);
  const silent = setTimeout(() => socket.destroy(), SILENT_MS);
  await once(socket, "close");
  clearTimeout(silent);
  return text.split("HTTP/1.1 ").slice(1);
}

/** Where the guard lets them all pass, the connection stays open. */
const SILENT_MS = 1_000;

describe("pipelined requests", () => {
  it("pipelined requests get one response and Connection: close; the receiver works on no other one of them", async () => {
    const before = await worked();
    const response = await rawExchange(lent.receiver.publicOrigin, GET.repeat(MANY));
    expect(response.match(/HTTP\/1\.1 404 /g)).toHaveLength(1);
    expect(response).toMatch(/\r\nConnection: close\r\n/);
    expect(await worked()).toBe(before + 1);
  });

  it("the first of two pipelined callbacks is handled and answered, and the second has to be sent again", async () => {
    const [first, second] = [payment(), payment()];
    const response = await rawExchange(lent.receiver.publicOrigin, signed(first) + signed(second));
    expect(response.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(response).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n/);
    const handled = ({ event_id }: { event_id: string }) =>
      lent.receiver.count("oncehook_records", `event_id = '${event_id}'`);
    expect([await handled(first), await handled(second)]).toEqual([1, 0]);
    expect(await rawExchange(lent.receiver.publicOrigin, signed(second))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("pipelined requests are parsed no further than the second one, over TLS too", async () => {
    const { cert, key } = await certificate("pipelined");
    let served = 0;
    const serve: RequestListener = async (_message, response) => {
      served += 1;
      await nextTurn();
      response.end("answered");
    };
    for (const server of [createServer(serve), createHttpsServer({ cert, key }, serve)]) {
      const target = await guarded(server);
      let parsed = 0;
      served = 0;
      server.prependListener("request", () => (parsed += 1));
      const client =
        "setSecureContext" in server
          ? connectTls({ port: target.port, rejectUnauthorized: false })
          : connect(target.port, "127.0.0.1");
      client.on("error", () => {}).resume();
      client.write(GET.repeat(MANY));
      await once(client, "close");
      expect([parsed, served]).toEqual([2, 1]);
      await target.end();
      expect(target.closed).toEqual([[expect.stringContaining("HTTP pipelining"), 1]]);
    }
  });

  it.each([
    ["an unknown expectation", GET.replace("\r\n\r\n", "\r\nExpect: 200-ok\r\n\r\n"), 417],
    ["no Host", GET.replace("Host: x\r\n", ""), 400],
  ])("pipelined requests with %s get one response too", async (_title, request, status) => {
    const response = await rawExchange(lent.receiver.publicOrigin, request.repeat(MANY));
    expect(response.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  it.each([
    ["public", "POST /nowhere", 404],
    ["public", "PUT /api/platform/callback", 405],
    ["admin", "POST /nowhere", 401],
  ] as const)(
    "pipelined requests to the %s listener get one response although their bodies are not awaited (%s)",
    async (to, line, status) => {
      const { receiver } = lent;
      const origin = to === "admin" ? receiver.adminOrigin : receiver.publicOrigin;
      const request = `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}`;
      // The first request of a new connection waits for others, which hides what is answered while the parser runs.
      const responses = await afterOne(origin, request, request.repeat(200));
      expect(responses.map((response) => response.slice(0, 3))).toEqual([String(status)]);
    },
  );

  it("pipelined requests to the admin listener get one response", async () => {
    const request = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    const response = await rawExchange(lent.receiver.adminOrigin, request.repeat(MANY));
    expect(response.match(/HTTP\/1\.1 200 /g)).toHaveLength(1);
    expect(response).toMatch(/\r\nConnection: close\r\n/i);
  });

  it("requests behind a stream end it", async () => {
    const target = await guarded(createServer((_message, response) => void response.write("stream")));
    const client = connect(target.port, "127.0.0.1").on("error", () => {});
    client.write(GET);
    await once(client, "data");
    client.write(GET);
    await once(client.resume(), "close");
    await target.end();
    expect(target.closed).toEqual([[expect.stringContaining("HTTP pipelining"), 1]]);
  });
});

describe("requests one after the other over one connection", () => {
  it("sequential requests over one TLS connection are all served, although the client reads a response before its flush is seen", async () => {
    const { cert, key } = await certificate("keep-alive");
    const sockets = new Set<Socket>();
    const target = await guarded(
      createHttpsServer({ cert, key }, async ({ socket }: IncomingMessage, response) => {
        sockets.add(socket);
        await nextTurn();
        response.end("answered");
      }),
    );
    const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    for (let sent = 0; sent < 200; sent += 1) {
      const [response] = (await once(get({ port: target.port, agent }), "response")) as [IncomingMessage];
      await once(response.resume(), "end");
    }
    agent.destroy();
    await target.end();
    expect(sockets.size).toBe(1);
    expect(target.closed).toEqual([]);
  });
});

describe("bodies in small pieces", () => {
  const begin = "POST /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
  const chunk = "1\r\nx\r\n";
  /** More than all may have at once. */
  const LONG = chunk.repeat(10_000);

  function reading(seen: { pieces: number }): RequestListener {
    return (message, response) => {
      message.on("data", () => (seen.pieces += 1));
      message.on("end", () => response.end("answered"));
    };
  }

  it("too many small pieces of a body close their connection, over TLS too, and are counted in the log", async () => {
    const { cert, key } = await certificate("pieces");
    const seen = { pieces: 0 };
    for (const server of [createServer(reading(seen)), createHttpsServer({ cert, key }, reading(seen))]) {
      seen.pieces = 0;
      const target = await guarded(server);
      const client =
        "setSecureContext" in server
          ? connectTls({ port: target.port, rejectUnauthorized: false })
          : connect(target.port, "127.0.0.1");
      client.on("error", () => {}).resume();
      const begun = performance.now();
      client.write(begin + LONG);
      await once(client, "close");
      // 4,000 at once and 20 a millisecond, beside the 16 of each body.
      expect(seen.pieces).toBeLessThanOrEqual(4_016 + 20 * (performance.now() - begun));
      expect(seen.pieces).toBeLessThan(10_000);
      await target.end();
      expect(target.closed).toEqual([[expect.stringContaining("small pieces"), 1]]);
    }
  });

  it("too many small pieces of a body close their connection although the body is not read", async () => {
    const target = await guarded(createServer((_message, response) => void response.end("answered")));
    const client = connect(target.port, "127.0.0.1").on("error", () => {});
    client.resume().write(begin + LONG);
    await once(client, "close");
    await target.end();
    expect(target.closed).toEqual([[expect.stringContaining("small pieces"), 1]]);
  });

  it("a few small pieces are accepted, whatever earlier requests sent over the same reused parser", async () => {
    const seen = { pieces: 0 };
    const target = await guarded(createServer(reading(seen)));
    const client = connect(target.port, "127.0.0.1").on("error", () => {});
    client.resume().write(begin + LONG);
    await once(client, "close");
    seen.pieces = 0;
    const origin = `http://127.0.0.1:${target.port}`;
    for (let sent = 0; sent < 5; sent += 1)
      expect(await rawExchange(origin, `${begin}${chunk.repeat(15)}0\r\n\r\n`)).toContain("answered");
    expect(seen.pieces).toBe(75);
    await target.end();
  });
});

describe("connections that do not read their responses", () => {
  afterAll(() => {
    for (const socket of unread) socket.destroy();
  });

  it("unread connections give way to new ones as idle ones do, the oldest first", async () => {
    const target = await guarded(createServer(large), { most: 2 });
    const [first, second] = [await unreader(target), await unreader(target)];
    const third = await unreader(target);
    expect([first, second, third].map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
    await target.end();
  });

  it("unread connections give way though further requests wait behind the response", async () => {
    const target = await guarded(createServer(large), { most: 1 });
    const first = await unreader(target);
    unread.at(-1)?.write(GET);
    await once(target.server, "request");
    await unreader(target);
    expect(first.destroyed).toBe(true);
    await target.end();
  });

  it("connections stay open where they read their responses in time, however late the next request comes", async () => {
    const sizes = [8, 32, 1];
    const serve: RequestListener = (_message, response) =>
      void response.end(Buffer.alloc((sizes.shift() ?? 0) * 1_048_576));
    const target = await guarded(createServer(serve), { writeTimeoutMs: 500 });
    const { port, closed } = target;
    const agent = new PlainAgent({ keepAlive: true, maxSockets: 1 });
    const accepted: unknown[] = [];
    target.server.on("connection", (socket) => accepted.push(socket));
    const read = async () => {
      const [response] = (await once(getPlain({ port, agent }), "response")) as [IncomingMessage];
      await once(response.resume(), "end");
    };
    await read();
    // Its time begins later, and is over.
    const late = await unreader(target);
    await until(() => late.destroyed);
    await read();
    agent.destroy();
    await target.end();
    expect(accepted).toHaveLength(2);
    expect(closed).toEqual([[expect.stringContaining("did not read"), 1]]);
  });

  it("a connection that does not read its response is closed after the write timeout and counted in the log", async () => {
    const target = await guarded(createServer(large), { writeTimeoutMs: 100 });
    const sockets = [await unreader(target), await unreader(target)];
    await until(() => sockets.every(({ destroyed }) => destroyed));
    await target.end();
    expect(target.closed).toEqual([[expect.stringContaining("did not read"), 2]]);
  });
});
