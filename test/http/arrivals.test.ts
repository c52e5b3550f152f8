import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, signHmac } from "../../src/index.ts";
import { lentReceiver } from "../support/lent-receiver.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { event, payment, SECRET, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const which = defineHandler({
  type: "which",
  data: z.object({}),
  handle: ({ version }) => ({ version }),
});
const lent = lentReceiver({ handlers: [which], env: { MAX_BODY_BYTES: "1024" } });
beforeAll(lent.begin);
afterAll(lent.end);

const post = (lines: readonly string[], body = "") =>
  `${["POST /api/platform/callback HTTP/1.1", "Host: x", ...lines].join("\r\n")}\r\n\r\n${body}`;

function signed(body: string, lines: readonly string[] = []): string {
  const signature = `X-Signature: ${signHmac(SECRET, Buffer.from(body))}`;
  return post([signature, `Content-Length: ${Buffer.byteLength(body)}`, ...lines], body);
}

const connection = () => {
  const { hostname, port } = new URL(lent.receiver.publicOrigin);
  return connect({ port: Number(port), host: hostname, allowHalfOpen: true });
};

async function responseBeforeTheBody(head: string): Promise<string> {
  const socket = connection();
  let received = "";
  socket.on("data", (chunk) => (received += chunk)).write(head);
  await until(() => received.endsWith("}"));
  socket.destroy();
  return received;
}

describe("a callback", () => {
  it.each([
    ["v2 once", ["X-API-Version: v2"], "v2"],
    ["v2 twice", ["X-API-Version: v2", "X-API-Version: v2"], "v1"],
    ["v2 and v1", ["X-API-Version: v2", "X-API-Version: v1"], "v1"],
  ])("a callback selects its version by one X-API-Version only: %s", async (_title, lines, version) => {
    const request = signed(JSON.stringify(event("which", {})), ["Connection: close", ...lines]);
    expect(await rawExchange(lent.receiver.publicOrigin, request)).toContain(`{"version":"${version}"}`);
  });

  it.each(["Identity", "IDENTITY"])("a callback may name its encoding in any case: %s", async (name) => {
    const headers = { "content-encoding": name };
    expect((await lent.receiver.send(payment(), { headers })).status).toBe(200);
  });

  it("a callback with a content encoding returns 415 and closes the connection, because its body is not wanted", async () => {
    const response = await responseBeforeTheBody(post(["Content-Encoding: gzip", "Content-Length: 100"]));
    expect(response).toMatch(/^HTTP\/1\.1 415 /);
    expect(response).toMatch(/\r\nconnection: close\r\n/i);
  });

  it("a callback that announces too long a body returns 413 before any of the body arrives", async () => {
    expect(await responseBeforeTheBody(post(["Content-Length: 1025"]))).toMatch(/^HTTP\/1\.1 413 /);
  });

  it.each([
    ["announced", "Content-Length: 16777216"],
    ["encoded", "Content-Encoding: br\r\nContent-Length: 16777216"],
    ["in chunks", "Transfer-Encoding: chunked"],
  ])("a client that reads after its whole body is sent gets the refusal of a body %s", async (_title, line) => {
    const { hostname, port } = new URL(lent.receiver.publicOrigin);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }).pause();
    const body = line.startsWith("Transfer")
      ? `1000000\r\n${"x".repeat(16_777_216)}\r\n0\r\n\r\n`
      : "x".repeat(16_777_216);
    socket.write(post([line], body));
    await once(socket, "drain");
    const response = await text(socket.resume());
    expect(response).toMatch(/^HTTP\/1\.1 41[35] /);
    expect(response).toMatch(/\r\nconnection: close\r\n/i);
    socket.destroy();
  });

  it("a response announces a keep-alive timeout longer than that of proxies", async () => {
    const { headers } = await lent.receiver.send(payment());
    expect(headers.get("keep-alive")).toBe("timeout=72");
  });
});

describe("a redirect", () => {
  it("a redirect's body has at most MAX_BODY_BYTES where that is less than 64 KiB", async () => {
    const url = `${lent.receiver.publicOrigin}/api/platform/oauth-callback`;
    const statusOf = async (bytes: number) => (await fetch(url, { method: "POST", body: "x".repeat(bytes) })).status;
    expect([await statusOf(1_024), await statusOf(1_025)]).toEqual([401, 413]);
  });
});

describe("bytes that are no request", () => {
  it("malformed bytes after an answered request get a response and a log entry", async () => {
    const { receiver } = lent;
    const where = "outcome = 'malformed_request'";
    const before = await receiver.count("oncehook_callbacks", where);
    const begun = signed(JSON.stringify(payment()));
    const { hostname, port } = new URL(receiver.publicOrigin);
    const socket = connect(Number(port), hostname);
    let text = "";
    socket.on("error", () => {}).on("data", (chunk) => (text += chunk));
    socket.write(begun);
    await until(() => text.includes('"success"'));
    socket.write("nonsense\r\n\r\n");
    await until(() => text.includes("HTTP/1.1 400 "));
    socket.destroy();
    await receiver.admin("/api/v1/callbacks");
    expect(await receiver.count("oncehook_callbacks", where)).toBe(before + 1);
  });
});

describe("a request whose body stops being one", () => {
  it("a request whose body becomes malformed is logged and counted once, with the response it got", async () => {
    const { receiver } = lent;
    const seen = async () => {
      const { text } = (await receiver.admin("/metrics")).body;
      const counted = /callback_requests_total\{event_type="unknown",status="400"\} (\d+)/.exec(String(text));
      await receiver.admin("/api/v1/callbacks");
      const logged = await receiver.count("oncehook_callbacks", "outcome = 'malformed_request'");
      return [Number(counted?.[1] ?? 0), logged] as const;
    };
    const [counted, logged] = await seen();
    const request = post(["Transfer-Encoding: chunked"], "no length of a chunk\r\n");
    expect(await rawExchange(receiver.publicOrigin, request)).toMatch(/^HTTP\/1\.1 400 /);
    await until(async () => (await seen())[1] > logged);
    expect(await seen()).toEqual([counted + 1, logged + 1]);
  });
});

describe("the head of a request", () => {
  it.each([
    ["10 s", "60000", 10_000],
    ["REQUEST_TIMEOUT_MS, where that is less", "3000", 3_000],
  ])("the head of a request has to arrive within %s", (_title, requestTimeout, expected) =>
    withReceiver(
      "sqlite",
      async ({ publicOrigin }) => {
        const servers = new Set<Server>();
        const note = (message: unknown) => void servers.add((message as { server: Server }).server);
        subscribe("http.server.request.start", note);
        await fetch(publicOrigin);
        unsubscribe("http.server.request.start", note);
        expect([...servers].map(({ headersTimeout }) => headersTimeout)).toEqual([expected]);
      },
      { env: { REQUEST_TIMEOUT_MS: requestTimeout, HANDLER_TIMEOUT_MS: "1000" } },
    ),
  );
});

describe("requests that are refused", () => {
  it("refused requests take a turn of the event loop for each sixteen, so that what is authentic waits for no more", async () => {
    const [refused, most] = [new Set<object>(), { inTurn: 0, now: 0 }];
    const over = (): void => {
      most.now = 0;
    };
    const count = (message: unknown): void => {
      const { response, server } = message as { response: ServerResponse; server: Server };
      if (response.statusCode === 404 && server.listening) refused.add(response);
      if (most.now++ === 0) setImmediate(over);
      most.inTurn = Math.max(most.inTurn, most.now);
    };
    subscribe("http.server.response.finish", count);
    try {
      const get = "GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
      const sent = Array.from({ length: 100 }, () => rawExchange(lent.receiver.publicOrigin, get));
      for (const response of await Promise.all(sent)) expect(response).toMatch(/^HTTP\/1\.1 404 /);
    } finally {
      unsubscribe("http.server.response.finish", count);
    }
    expect(refused.size).toBe(100);
    // Sixteen as they arrive, and sixteen that waited.
    expect(most.inTurn).toBeLessThanOrEqual(32);
  });
});
