import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createClientErrors } from "../../src/http/client-error.ts";
import { defineHandler, signHmac } from "../../src/index.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { event, payment, SECRET, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

const head = (lines: string[]) =>
  `${["POST /api/platform/callback HTTP/1.1", "Host: x", "Connection: close", ...lines].join("\r\n")}\r\n\r\n`;

function signed(body: string, headers: string[] = []): string {
  const signature = signHmac(SECRET, Buffer.from(body));
  return head([`Content-Length: ${Buffer.byteLength(body)}`, `X-Signature: ${signature}`, ...headers]) + body;
}

/** A signed request after which the connection stays open. */
const kept = (sent: object) => signed(JSON.stringify(sent)).replace("Connection: close\r\n", "");

/** A connection, with what comes back over it. */
function open({ publicOrigin }: TestReceiver): { readonly socket: Socket; text: string } {
  const { hostname, port } = new URL(publicOrigin);
  const opened = { socket: connect(Number(port), hostname), text: "" };
  opened.socket.on("error", () => {}).on("data", (chunk) => (opened.text += chunk));
  return opened;
}

describe("requests as they come over the wire", () => {
  it.each([
    ["a second signature after a valid one", (body: string) => signed(body, [`X-Signature: ${"a".repeat(64)}`])],
    [
      "the same valid signature twice",
      (body: string) => signed(body, [`X-Signature: ${signHmac(SECRET, Buffer.from(body))}`]),
    ],
    [
      "two signatures in one header",
      (body: string) =>
        head([
          `Content-Length: ${body.length}`,
          `X-Signature: ${signHmac(SECRET, Buffer.from(body))}, ${"a".repeat(64)}`,
        ]) + body,
    ],
  ])("a request with %s is refused", (_title, build) =>
    withReceiver("sqlite", async (receiver) => {
      const response = await rawExchange(receiver.publicOrigin, build(JSON.stringify(payment())));
      expect(response).toMatch(/^HTTP\/1\.1 401 /);
      expect(response).toContain('{"error":"invalid signature"}');
    }),
  );

  it.each(["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])("%s gets 405 with Allow", (method) =>
    withReceiver("sqlite", async (receiver) => {
      const response = await rawExchange(receiver.publicOrigin, head([]).replace("POST", method));
      expect(response).toMatch(/^HTTP\/1\.1 405 /);
      expect(response.toLowerCase()).toContain("allow: post");
    }),
  );

  it.each([
    ["bytes that are not HTTP", "nonsense\r\n\r\n", 400, "malformed request"],
    ["a length and chunks", head(["Content-Length: 3", "Transfer-Encoding: chunked"]), 400, "malformed request"],
    ["two lengths", head(["Content-Length: 3", "Content-Length: 4"]), 400, "malformed request"],
    ["headers of more than 16 KiB", head([`X-Long: ${"x".repeat(17_000)}`]), 431, "headers too large"],
  ])("requests get an error as JSON for %s", (_title, request, status, message) =>
    withReceiver("sqlite", async (receiver) => {
      const response = await rawExchange(receiver.publicOrigin, request);
      expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(response).toContain(`{"error":"${message}"}`);
      await until(async () => (await receiver.count("oncehook_callbacks", `response_status = ${status}`)) === 1);
      expect(receiver.lines.at(-1)).toMatchObject({ status, remote_address: "127.0.0.1" });
      expect(String((await receiver.admin("/metrics")).body.text)).toContain(
        `callback_requests_total{event_type="unknown",status="${status}"} 1`,
      );
    }),
  );

  it.each([
    ["/api/platform/callback/", "/api/platform/callback", "platform"],
    ["//api//platform/callback", "/api/platform/callback", "platform"],
    ["/api/shop/callback/", "/api/shop/callback", "shop"],
    ["/hooks//acme/", "/hooks/acme", "shops"],
  ])("a callback to %s returns 404 with the registered path, and is logged under its source", (path, meant, source) =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const { status, body } = await receiver.send(payment(), { path });
        const error = `not found: the address is ${meant}, without another slash`;
        expect([status, body]).toEqual([404, { error }]);
        await until(async () => (await receiver.count("oncehook_callbacks", "response_status = 404")) === 1);
        expect(receiver.lines.at(-1)).toMatchObject({ source, outcome: "not_found" });
      },
      { sources: { shop: shop(), shops: shop({ path: "/hooks/:name", secret: () => undefined }) } },
    ),
  );

  it("requests get an error as JSON for an address that cannot be decoded", () =>
    withReceiver("sqlite", async (receiver) => {
      const response = await rawExchange(receiver.publicOrigin, head([]).replace("/api/platform/callback", "/%zz"));
      expect(response).toMatch(/^HTTP\/1\.1 404 /);
      expect(response).toContain('{"error":"not found"}');
    }));

  it("a body of endless chunks returns 413", () =>
    withReceiver("sqlite", async (receiver) => {
      const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
      const response = await rawExchange(
        receiver.publicOrigin,
        head(["Transfer-Encoding: chunked"]) + chunk.repeat(20),
      );
      expect(response).toMatch(/^HTTP\/1\.1 413 /);
    }));

  it("a chunked body is accepted with a signature over the chunks' content", () =>
    withReceiver("sqlite", async (receiver) => {
      const body = JSON.stringify(payment());
      const chunks = [...body].map((byte) => `1\r\n${byte}\r\n`).join("");
      const signature = signHmac(SECRET, Buffer.from(body));
      const request = `${head(["Transfer-Encoding: chunked", `X-Signature: ${signature}`])}${chunks}0\r\n\r\n`;
      expect(await rawExchange(receiver.publicOrigin, request)).toMatch(/^HTTP\/1\.1 200 /);
    }));

  it("no socket is left when a client starts a request and never closes its side", { tags: "full" }, () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const { hostname, port } = new URL(receiver.publicOrigin);
        const sockets = Array.from({ length: 5 }, () =>
          connect({ port: Number(port), host: hostname, allowHalfOpen: true }),
        );
        const closed = sockets.map(
          (socket) =>
            new Promise<void>((resolve) =>
              socket
                .on("error", () => {})
                .on("close", () => resolve())
                .resume(),
            ),
        );
        for (const socket of sockets) socket.write("POST / HTTP/1.1\r\nHo");
        await Promise.all(sockets.map((socket) => once(socket, "end")));
        const begun = performance.now();
        await receiver.stop();
        expect(performance.now() - begun).toBeLessThan(5_000);
        for (const socket of sockets) socket.destroy();
        await Promise.all(closed);
      },
      { env: { REQUEST_TIMEOUT_MS: "300", HANDLER_TIMEOUT_MS: "200" } },
    ),
  );

  it("no socket is left when a client never reads the response to malformed bytes", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const accepted = once(server, "connection");
    const silent = connect((server.address() as AddressInfo).port, "127.0.0.1").pause();
    const [socket] = (await accepted) as [Socket];
    // More than the buffers of both sides take.
    socket.write(Buffer.alloc(33_554_432));
    const errors = createClientErrors({} as never);
    // Its request has started, so that its own outcome is logged.
    errors.requestStarted(socket);
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    try {
      errors.respond(new Error("no request"), socket);
      expect(socket.destroyed).toBe(false);
      vi.advanceTimersByTime(1_000);
      expect(socket.destroyed).toBe(true);
    } finally {
      vi.useRealTimers();
      silent.destroy();
      socket.destroy();
      server.close();
      await once(server, "close");
    }
  });

  it("every request during a stop gets Connection: close, whether it started before or after", () => {
    const work = { begun: false, end: Promise.withResolvers<void>() };
    const held = defineHandler({
      type: "held",
      data: z.object({}),
      async prepare() {
        work.begun = true;
        await work.end.promise;
        return {};
      },
      handle: async () => ({}),
    });
    return withReceiver(
      "sqlite",
      async (receiver) => {
        const [before, after] = [open(receiver), open(receiver)];
        before.socket.write(kept(event("held", {})));
        const [first, second] = [kept(payment()), kept(payment())];
        // In one piece, so that the second request has begun when the response to the first is sent.
        after.socket.write(first + second.slice(0, 20));
        await until(() => work.begun && after.text.endsWith("}}"));
        expect(after.text).toMatch(/\r\nConnection: keep-alive\r\n/);
        after.text = "";
        const stopping = receiver.stop();
        await until(() =>
          fetch(receiver.publicOrigin).then(
            () => false,
            () => true,
          ),
        );
        after.socket.write(second.slice(20));
        work.end.resolve();
        await stopping;
        await until(() => before.text.endsWith("}}") && after.text.endsWith("}}"));
        for (const { text } of [before, after]) {
          expect(text).toMatch(/^HTTP\/1\.1 200 /);
          expect(text).toMatch(/\r\nConnection: close\r\n/);
        }
      },
      { handlers: [held] },
    );
  });

  it("a request whose body does not arrive in time returns 408", { tags: "full" }, () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const response = await rawExchange(receiver.publicOrigin, head(["Content-Length: 100"]), {
          silenceMs: 5_000,
        });
        expect(response).toMatch(/^HTTP\/1\.1 408 /);
        expect(response).toContain('{"error":"request timeout"}');
        await until(async () => (await receiver.count("oncehook_callbacks")) === 1);
        expect(await receiver.count("oncehook_callbacks", "response_status = 408")).toBe(1);
        expect(receiver.lines.at(-1)).toMatchObject({ outcome: "request_timeout", status: 408 });
      },
      { env: { REQUEST_TIMEOUT_MS: "300", HANDLER_TIMEOUT_MS: "200" } },
    ),
  );
});

describe("the base path of CALLBACK_BASE_URL", () => {
  it("the base path stands in front of every address", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        for (const path of [
          "/hooks/in/api/platform/callback",
          "/hooks/in/api/v1/platform/callback",
          "/hooks/in/api/v2/platform/callback?x=1",
        ]) {
          expect((await receiver.send(payment(), { path })).status).toBe(200);
        }
        expect((await receiver.send(payment(), { path: "/api/platform/callback" })).status).toBe(404);
        expect((await receiver.send(payment(), { path: "/hooks/in/api/platform/callback/" })).status).toBe(404);
      },
      { env: { CALLBACK_BASE_URL: "http://127.0.0.1:9/hooks/in/" } },
    ));
});
