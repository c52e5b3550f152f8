import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, signHmac } from "../../src/index.ts";
import { certificate } from "../support/certificate.ts";
import { lentReceiver } from "../support/lent-receiver.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { event, payment, SECRET, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { withFiles } from "../support/tls-files.ts";
import { until } from "../support/until.ts";

const BODY = 65_536;
const ROOM = 4 * BODY;

interface Stranger {
  readonly socket: Socket;
  /** What came back so far. */
  readonly text: string;
  readonly isClosed: boolean;
}

const opened: Socket[] = [];
// A receiver that stops waits for them.
const leaveAll = () => {
  for (const socket of opened.splice(0)) socket.destroy();
};
afterEach(leaveAll);

/** A connection from an address of this machine, with what comes back over it. */
async function stranger({ publicOrigin }: TestReceiver, localAddress: string, sent = ""): Promise<Stranger> {
  const { hostname, port } = new URL(publicOrigin);
  const socket = connect({ port: Number(port), host: hostname, localAddress });
  const state = { socket, text: "", isClosed: false };
  opened.push(socket);
  socket.on("error", () => {}).on("data", (chunk) => (state.text += chunk));
  socket.on("close", () => (state.isClosed = true));
  await once(socket, "connect");
  if (sent !== "") await new Promise((resolve) => socket.write(sent, resolve));
  return state;
}

const unfinished = (bytes: number, announced = BODY) =>
  `POST /api/platform/callback HTTP/1.1\r\nHost: x\r\nContent-Length: ${announced}\r\n\r\n${"x".repeat(bytes)}`;
const chunked = (chunks: readonly string[], lines: readonly string[] = []) =>
  [
    "POST /api/platform/callback HTTP/1.1",
    "Host: x",
    "Connection: close",
    "Transfer-Encoding: chunked",
    ...lines,
    "",
    ...[...chunks, ""].flatMap((chunk) => [chunk.length.toString(16), chunk]),
    "",
  ].join("\r\n");

/** A signed event of so many bytes. */
function eventOf(bytes: number): { readonly text: string; readonly lines: readonly string[] } {
  const sent = (padding: string) => JSON.stringify(payment({}, { padding }));
  const text = sent("x".repeat(bytes - sent("").length));
  return {
    text: text.padEnd(bytes),
    lines: [`X-Signature: ${signHmac(SECRET, Buffer.from(text.padEnd(bytes)))}`],
  };
}

function piecesOf(text: string, count: number): string[] {
  const length = Math.ceil(text.length / count);
  return Array.from({ length: count }, (_, at) => text.slice(at * length, (at + 1) * length));
}

/** A handler whose outside work ends when the test says so. */
function heldWork() {
  const work = { begun: 0, end: Promise.withResolvers<void>() };
  const handler = defineHandler({
    type: "held",
    data: z.looseObject({}),
    async prepare() {
      work.begun += 1;
      await work.end.promise;
      return {};
    },
    handle: async () => ({}),
  });
  return { work, handler };
}

describe("bodies that are not verified yet", () => {
  const { work, handler } = heldWork();
  const lent = lentReceiver({
    handlers: [handler],
    env: {
      MAX_BODY_BYTES: String(BODY),
      MAX_UNVERIFIED_BYTES: String(ROOM),
      MAX_CONNECTIONS_PER_ADDRESS: "64",
    },
  });
  beforeAll(lent.begin);
  afterAll(lent.end);
  const exchange = (text: string) => rawExchange(lent.receiver.publicOrigin, text);

  it("make room for others when they fill MAX_UNVERIFIED_BYTES: the oldest unfinished one gets 503 with Retry-After", async () => {
    const strangers: Stranger[] = [];
    for (let at = 1; at <= 6; at += 1)
      strangers.push(await stranger(lent.receiver, `127.0.1.${at}`, unfinished(BODY - 1)));
    await until(() => strangers.filter(({ isClosed }) => isClosed).length === 2);
    expect(strangers.map(({ isClosed }) => isClosed)).toEqual([true, true, false, false, false, false]);
    expect(strangers[0]?.text).toMatch(/^HTTP\/1\.1 503 /);
    expect(strangers[0]?.text.toLowerCase()).toMatch(/\r\nretry-after: \d+\r\n/);
    expect(strangers[0]?.text).toContain('{"error":"temporarily unavailable"}');
    const { text, lines } = eventOf(BODY);
    expect(await exchange(chunked(piecesOf(text, 5), lines))).toMatch(/^HTTP\/1\.1 200 /);
    expect((await lent.receiver.send(payment())).status).toBe(200);
  });

  it("of an address with more than its share make room first, though another's is older", async () => {
    const other = await stranger(lent.receiver, "127.0.2.1", unfinished(100));
    const many: Stranger[] = [];
    for (let at = 0; at < 6; at += 1)
      many.push(await stranger(lent.receiver, "127.0.2.2", unfinished(BODY - 1)));
    await until(() => many.filter(({ isClosed }) => isClosed).length >= 2);
    expect(other.isClosed).toBe(false);
  });

  it("are forgotten with their requests, however these end", async () => {
    const { text, lines } = eventOf(BODY);
    for (let at = 0; at < 6; at += 1) {
      const gone = await stranger(lent.receiver, "127.0.3.1", unfinished(BODY - 1));
      gone.socket.destroy();
      expect(await exchange(chunked(piecesOf(text, 3)))).toMatch(/^HTTP\/1\.1 401 /);
      expect(await exchange(chunked([text, "more"], lines))).toMatch(/^HTTP\/1\.1 413 /);
      expect(await exchange(chunked(piecesOf(text, 3), lines))).toMatch(/^HTTP\/1\.1 200 /);
    }
    // Four bodies of the largest size fit, so that nothing of the twenty-four before is held.
    const strangers: Stranger[] = [];
    for (let at = 1; at <= 4; at += 1)
      strangers.push(await stranger(lent.receiver, `127.0.3.${at}`, unfinished(BODY - 1)));
    expect((await lent.receiver.send(payment())).status).toBe(200);
    expect(strangers.filter(({ isClosed }) => isClosed).length).toBeLessThanOrEqual(1);
  });

  it("are forgotten where a redirect is refused before its authentication too", async () => {
    const url = `${lent.receiver.publicOrigin}/api/platform/oauth-callback`;
    const prefetch = { method: "POST", headers: { purpose: "prefetch" }, body: "x".repeat(BODY) };
    for (let at = 0; at < 5; at += 1) expect((await fetch(url, prefetch)).status).toBe(503);
    expect((await lent.receiver.send(payment())).status).toBe(200);
  });

  it("do not count once they are authentic, however long their handlers run", async () => {
    let ended = 0;
    const padding = "x".repeat(BODY - 1_000);
    const send = async () => {
      const { status } = await lent.receiver.send(event("held", { padding }));
      ended += 1;
      return status;
    };
    const sent: Promise<number>[] = [];
    while (sent.length < 6) {
      sent.push(send());
      await until(() => work.begun + ended === sent.length);
    }
    work.end.resolve();
    expect(await Promise.all(sent)).toEqual(Array(6).fill(200));
  });

  it.each([1, 2, 7, 100])(
    "are taken at exactly MAX_BODY_BYTES in %i chunks, and refused at one byte more",
    async (count) => {
      const { text, lines } = eventOf(BODY);
      expect(await exchange(chunked(piecesOf(text, count), lines))).toMatch(/^HTTP\/1\.1 200 /);
      const longer = eventOf(BODY + 1);
      expect(await exchange(chunked(piecesOf(longer.text, count), longer.lines))).toMatch(/^HTTP\/1\.1 413 /);
    },
  );
});

describe("connections to the public listener", () => {
  const limits = { MAX_CONNECTIONS: "12", MAX_CONNECTIONS_PER_ADDRESS: "6" };
  const bounded = (use: (receiver: TestReceiver) => Promise<void>, env: Record<string, string> = {}) =>
    withReceiver("sqlite", (receiver) => use(receiver).finally(leaveAll), { env: { ...limits, ...env } });

  it("give way past the bounds, the one that was idle longest first: silent ones lock nobody out", () =>
    bounded(async (receiver) => {
      const silent: Stranger[] = [];
      for (let at = 0; at < 8; at += 1) silent.push(await stranger(receiver, "127.0.4.1"));
      await until(() => silent.filter(({ isClosed }) => isClosed).length === 2);
      expect(silent.slice(0, 2).every(({ isClosed }) => isClosed)).toBe(true);
      for (let at = 1; at <= 20; at += 1) silent.push(await stranger(receiver, `127.0.5.${at}`));
      const busy = await stranger(receiver, "127.0.6.1", unfinished(10));
      for (let at = 1; at <= 20; at += 1) silent.push(await stranger(receiver, `127.0.7.${at}`));
      expect((await receiver.send(payment())).status).toBe(200);
      await until(() => silent.filter(({ isClosed }) => !isClosed).length <= 12);
      expect(busy.isClosed).toBe(false);
    }));

  it("past MAX_CONNECTIONS close an idle one of the address with the most", () =>
    bounded(async (receiver) => {
      const first = await stranger(receiver, "127.0.12.1");
      const most: Stranger[] = [];
      for (let at = 0; at < 5; at += 1) most.push(await stranger(receiver, "127.0.12.2"));
      const others: Stranger[] = [];
      for (let at = 3; at <= 9; at += 1) others.push(await stranger(receiver, `127.0.12.${at}`));
      await until(() => [first, ...most, ...others].some(({ isClosed }) => isClosed));
      expect(most.map(({ isClosed }) => isClosed)).toEqual([true, false, false, false, false]);
    }));

  it("that all have a body under way give up the oldest of these", () =>
    bounded(async (receiver) => {
      const slow: Stranger[] = [];
      for (let at = 1; at <= 14; at += 1) {
        const head = "POST /api/platform/callback HTTP/1.1\r\nHost: x\r\n";
        const lines = "Expect: 100-continue\r\nContent-Length: 100\r\n\r\n";
        const one = await stranger(receiver, `127.0.8.${at}`, head + lines);
        await until(() => one.text.includes("100 Continue"));
        slow.push(one);
      }
      await until(() => slow.filter(({ isClosed }) => isClosed).length === 2);
      for (const { text } of slow.slice(0, 2)) expect(text).toContain("HTTP/1.1 503 ");
      expect((await receiver.send(payment())).status).toBe(200);
    }));

  it("of a trusted proxy are bounded in all and not by its address", () =>
    bounded(
      async (receiver) => {
        const proxied: Stranger[] = [];
        for (let at = 0; at < 10; at += 1) proxied.push(await stranger(receiver, "127.0.9.1"));
        await receiver.send(payment());
        expect(proxied.filter(({ isClosed }) => isClosed)).toEqual([]);
        const direct: Stranger[] = [];
        for (let at = 0; at < 8; at += 1) direct.push(await stranger(receiver, "127.0.10.1"));
        await until(() => [...proxied, ...direct].filter(({ isClosed }) => !isClosed).length <= 12);
      },
      { TRUST_PROXY: "127.0.9.0/24", HOST: "127.0.0.1" },
    ));

  it("count before the TLS handshake, and until the connection is closed", async () => {
    await withFiles(await certificate("bounded"), ({ certFile, keyFile }) =>
      bounded(
        async (receiver) => {
          const silent: Stranger[] = [];
          for (let at = 0; at < 8; at += 1) silent.push(await stranger(receiver, "127.0.11.1"));
          await until(() => silent.filter(({ isClosed }) => isClosed).length === 2);
          const { connect: connectTls } = await import("node:tls");
          for (let at = 0; at < 20; at += 1) {
            const { port } = new URL(receiver.publicOrigin);
            const client = connectTls({ port: Number(port), host: "127.0.0.1", rejectUnauthorized: false });
            await once(client, "secureConnect");
            client.end(`GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`).resume();
            await once(client, "close");
          }
          expect(silent.filter(({ isClosed }) => isClosed)).toHaveLength(2);
        },
        { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, HOST: "127.0.0.1" },
      ),
    );
  });
});
