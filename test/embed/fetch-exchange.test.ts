import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { defineHandler, type Receiver, respond } from "../../src/index.ts";
import {
  CALLBACK_PATH,
  requestOf,
  type SignedCallback,
  stripeCallback,
  VARIABLES,
  withApplication,
} from "../support/application.ts";
import { withDatabase } from "../support/databases.ts";

type Use = Parameters<typeof withApplication>[1];
type Options = Parameters<typeof withApplication>[2];
const onSqlite = (use: Use, options?: Options) =>
  withDatabase("sqlite", (target) => withApplication(target, use, options));

/** A callback whose body is this stream. */
function streaming(callback: SignedCallback, body: ReadableStream): Request {
  const { url, headers } = requestOf(callback);
  return new Request(url, { method: "POST", headers, body, duplex: "half" } as RequestInit);
}

/** A server of Node that hands over its requests as SvelteKit, Nitro and others do: a cancelled body ends the connection. */
async function withFetchServer(receiver: Receiver, use: (origin: string) => Promise<void>): Promise<void> {
  const server = createServer(async (message, response) => {
    const body = Readable.toWeb(message) as ReadableStream;
    const init = { method: "POST", headers: message.headers, body, duplex: "half" };
    const answer = await receiver.fetch(new Request(`http://app.example${message.url}`, init as RequestInit));
    response.writeHead(answer.status, [...answer.headers].flat()).end(await answer.text());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe("a WHATWG request of an application", () => {
  it("a body that another reader holds is refused with the remedy in the log, though nothing has read it", () =>
    onSqlite(async ({ receiver, lines }) => {
      const request = requestOf(stripeCallback());
      request.body?.getReader();
      expect((await receiver.fetch(request)).status).toBe(500);
      expect(lines.map(({ msg }) => msg).join()).toContain("before the receiver");
    }));

  it("a body whose client leaves in the middle of it gets 400, and leaves the receiver as it was", () =>
    onSqlite(async ({ receiver }) => {
      const callback = stripeCallback();
      const broken = new ReadableStream({
        start: (body) => body.enqueue(Buffer.from(callback.body.slice(0, 9))),
        pull: (body) => body.error(new Error("the client left")),
      });
      expect((await receiver.fetch(streaming(callback, broken))).status).toBe(400);
      expect((await receiver.fetch(requestOf(callback))).status).toBe(200);
    }));

  it("a stream of anything else than bytes is refused, and the log says so", () =>
    onSqlite(async ({ receiver, lines }) => {
      const callback = stripeCallback();
      const texts = new ReadableStream({
        start(body) {
          body.enqueue(callback.body);
          body.close();
        },
      });
      expect((await receiver.fetch(streaming(callback, texts))).status).toBe(500);
      expect(lines.map(({ msg }) => msg).join()).toContain("something else than bytes");
    }));

  it("a body over the limit gets its 413 also from a server that ends the connection with the body", () =>
    onSqlite(
      async ({ receiver }) =>
        withFetchServer(receiver, async (origin) => {
          const pieces = async function* () {
            for (let sent = 0; sent < 16; sent += 1) yield Buffer.alloc(65_536, "x");
          };
          for (let sent = 0; sent < 2; sent += 1) {
            const init = { method: "POST", body: ReadableStream.from(pieces()), duplex: "half" };
            expect((await fetch(origin + CALLBACK_PATH, init as RequestInit)).status).toBe(413);
          }
        }),
      { variables: { ...VARIABLES, MAX_BODY_BYTES: "1024" } },
    ));

  it("a handler's response 205, which has no body, is sent to the platform", () => {
    const resets = defineHandler({
      source: "billing",
      type: "invoice.paid",
      handle: () => respond({ status: 205, headers: { "x-reset": "form" } }),
    });
    return onSqlite(
      async ({ receiver }) => {
        const response = await receiver.fetch(requestOf(stripeCallback()));
        expect([response.status, response.headers.get("x-reset"), response.body]).toEqual([205, "form", null]);
      },
      { file: { handlers: [resets] } },
    );
  });
});
