import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, signHmac } from "../../src/index.ts";
import { lentReceiver } from "../support/lent-receiver.ts";
import { closeConnections, connectFrom, type RawConnection, unfinished } from "../support/raw-connection.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { event, payment, SECRET } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const BODY = 65_536;
const ROOM = 4 * BODY;

// A receiver that stops waits for them.
afterEach(closeConnections);

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
  const event = JSON.stringify(payment({}, { padding: "" }));
  const padding = "x".repeat(bytes - event.length);
  const text = event.replace('"padding":""', `"padding":"${padding}"`);
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
function heldWork(type = "held") {
  const work = { begun: 0, end: Promise.withResolvers<void>() };
  const handler = defineHandler({
    type,
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
  const { work: exchanging, handler: exchangeHandler } = heldWork("user_authorized");
  const lent = lentReceiver({
    handlers: [handler, exchangeHandler],
    env: {
      HANDLERS: "payment_notify",
      MAX_BODY_BYTES: String(BODY),
      MAX_UNVERIFIED_BYTES: String(ROOM),
      MAX_CONNECTIONS_PER_ADDRESS: "64",
    },
  });
  beforeAll(lent.begin);
  afterAll(lent.end);
  const exchange = (text: string) => rawExchange(lent.receiver.publicOrigin, text);

  it("unverified bodies make room for others when they fill MAX_UNVERIFIED_BYTES: the oldest unfinished one gets 503 with Retry-After", async () => {
    const connections: RawConnection[] = [];
    for (let at = 1; at <= 6; at += 1)
      connections.push(await connectFrom(lent.receiver, `127.0.1.${at}`, unfinished(BODY - 1, BODY)));
    await until(() => connections.filter(({ isClosed }) => isClosed).length === 2);
    expect(connections.map(({ isClosed }) => isClosed)).toEqual([true, true, false, false, false, false]);
    expect(connections[0]?.text).toMatch(/^HTTP\/1\.1 503 /);
    expect(connections[0]?.text.toLowerCase()).toMatch(/\r\nretry-after: \d+\r\n/);
    expect(connections[0]?.text).toContain('{"error":"temporarily unavailable"}');
    const { text, lines } = eventOf(BODY);
    expect(await exchange(chunked(piecesOf(text, 5), lines))).toMatch(/^HTTP\/1\.1 200 /);
    expect((await lent.receiver.send(payment())).status).toBe(200);
  });

  it("unfinished bodies of an address above its share make room before an older body of another address", async () => {
    const other = await connectFrom(lent.receiver, "127.0.2.1", unfinished(100, BODY));
    const many: RawConnection[] = [];
    for (let at = 0; at < 6; at += 1)
      many.push(await connectFrom(lent.receiver, "127.0.2.2", unfinished(BODY - 1, BODY)));
    await until(() => many.filter(({ isClosed }) => isClosed).length >= 2);
    expect(other.isClosed).toBe(false);
  });

  it("a body's bytes are released with its request, however that ends", async () => {
    const { text, lines } = eventOf(BODY);
    for (let at = 0; at < 6; at += 1) {
      const gone = await connectFrom(lent.receiver, "127.0.3.1", unfinished(BODY - 1, BODY));
      gone.socket.destroy();
      expect(await exchange(chunked(piecesOf(text, 3)))).toMatch(/^HTTP\/1\.1 401 /);
      expect(await exchange(chunked([text, "more"], lines))).toMatch(/^HTTP\/1\.1 413 /);
      expect(await exchange(chunked(piecesOf(text, 3), lines))).toMatch(/^HTTP\/1\.1 200 /);
    }
    // Four bodies of the largest size fit, so that nothing of the twenty-four before is held.
    const connections: RawConnection[] = [];
    for (let at = 1; at <= 4; at += 1)
      connections.push(await connectFrom(lent.receiver, `127.0.3.${at}`, unfinished(BODY - 1, BODY)));
    expect((await lent.receiver.send(payment())).status).toBe(200);
    expect(connections.filter(({ isClosed }) => isClosed).length).toBeLessThanOrEqual(1);
  });

  it("a body's bytes are released when a redirect is refused before its authentication", async () => {
    const url = `${lent.receiver.publicOrigin}/api/platform/oauth-callback`;
    const prefetch = { method: "POST", headers: { purpose: "prefetch" }, body: "x".repeat(BODY) };
    for (let at = 0; at < 5; at += 1) expect((await fetch(url, prefetch)).status).toBe(503);
    expect((await lent.receiver.send(payment())).status).toBe(200);
  });

  it("unverified bodies do not count once they are authentic, however long their handlers run", async () => {
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

  it("unverified bodies do not count once a redirect's are authentic, however long its code is exchanged", async () => {
    const path = "/api/platform/oauth-callback";
    const more = "x".repeat(16_000);
    const before = exchanging.begun;
    const sent: Promise<unknown>[] = [];
    // More than there is room for.
    while (sent.length < 18) {
      const body = { code: `code-${sent.length}`, state: `state-${sent.length}`, more };
      sent.push(lent.receiver.send(body, { path }));
      await until(() => exchanging.begun - before === sent.length);
    }
    exchanging.end.resolve();
    expect(await Promise.all(sent)).toEqual(Array(18).fill(expect.objectContaining({ status: 200 })));
  });

  it.each([1, 2, 7, 100])(
    "a body of exactly MAX_BODY_BYTES in %i chunks is accepted, and one byte more returns 413",
    async (count) => {
      const { text, lines } = eventOf(BODY);
      expect(await exchange(chunked(piecesOf(text, count), lines))).toMatch(/^HTTP\/1\.1 200 /);
      const longer = eventOf(BODY + 1);
      expect(await exchange(chunked(piecesOf(longer.text, count), longer.lines))).toMatch(/^HTTP\/1\.1 413 /);
    },
  );
});
