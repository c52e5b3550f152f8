import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { type Receiver, toNodeHandler } from "../../src/embed/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import type { LogLine } from "../../src/testing/captured-log.ts";
import {
  type ApplicationOptions,
  CALLBACK_PATH,
  requestOf,
  type SignedCallback,
  STRIPE_SECRET,
  stripeCallback,
  VARIABLES,
  withApplication,
} from "../support/application.ts";
import { withDatabase } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";
import { withListening } from "../support/listening-server.ts";
import type { Target } from "../support/open-target.ts";
import { closeConnections, connectFrom } from "../support/raw-connection.ts";
import type { TestReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

interface Scene {
  readonly receiver: Receiver;
  readonly origin: string;
  readonly lines: readonly LogLine[];
  readonly target: Target;
}

/** Lends an application of node:http with a receiver that is not open yet. */
function withServer(
  listenerOf: (receiver: Receiver) => RequestListener,
  use: (scene: Scene) => Promise<void>,
  options: ApplicationOptions = {},
): Promise<void> {
  return withDatabase("sqlite", (target) =>
    withApplication(
      target,
      async ({ receiver, lines }) => {
        await withListening(createServer(listenerOf(receiver)), (port) =>
          use({ receiver, origin: `http://127.0.0.1:${port}`, lines, target }),
        );
      },
      options,
    ),
  );
}

const direct = (receiver: Receiver): RequestListener => toNodeHandler(receiver);

function post(origin: string, { body, headers }: SignedCallback): Promise<Response> {
  return fetch(origin + CALLBACK_PATH, { method: "POST", body, headers });
}

/** A callback in the bytes of HTTP/1.1. */
function rawCallback({ body, headers }: SignedCallback, ...more: string[]): { head: string; body: string } {
  const fields = Object.entries({ host: "a", ...headers, "content-length": body.length }).map((one) => one.join(": "));
  return { head: [`POST ${CALLBACK_PATH} HTTP/1.1`, ...fields, ...more, "", ""].join("\r\n"), body };
}

const connectTo = ({ origin }: Scene) => connectFrom({ publicOrigin: origin } as TestReceiver, "127.0.0.1");
const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);

afterEach(closeConnections);

describe("a receiver in an application's own server", () => {
  it("another listener of the body keeps its bytes, also of a request that waits for the database", async () => {
    const kept: Uint8Array[][] = [];
    const listening = (receiver: Receiver): RequestListener => {
      const handle = toNodeHandler(receiver);
      return (request, response) => {
        const pieces: Uint8Array[] = [];
        kept.push(pieces);
        request.on("data", (piece) => pieces.push(piece));
        handle(request, response);
      };
    };
    await withServer(listening, async ({ origin }) => {
      const callbacks = [1, 2].map(() => stripeCallback(undefined, undefined, { pad: "x".repeat(300_000) }));
      for (const callback of callbacks) expect((await post(origin, callback)).status).toBe(200);
      const heard = kept.map((pieces) => Buffer.concat(pieces).toString());
      expect(heard).toEqual(callbacks.map(({ body }) => body));
      expect(kept[1]?.length).toBeGreaterThan(1);
    });
  });

  it("a refusal before the body lets the connection serve the next request, though a listener holds the body", async () => {
    const listening = (receiver: Receiver): RequestListener => {
      const handle = toNodeHandler(receiver);
      return (request, response) => {
        request.on("data", () => {});
        handle(request, response);
      };
    };
    const variables = { ...VARIABLES, IP_ALLOW_LIST: "192.0.2.0/24" };
    await withServer(
      listening,
      async (scene) => {
        const { head, body } = rawCallback(stripeCallback(undefined, undefined, { pad: "x".repeat(900_000) }));
        // The first waits until the database is open; the second is refused at once.
        const connection = await connectTo(scene);
        for (const statuses of [["403"], ["403", "403"]]) {
          connection.socket.write(head + body);
          await until(() => statusesIn(connection.text).length === statuses.length);
          expect(statusesIn(connection.text)).toEqual(statuses);
        }
        connection.socket.write("GET /orders HTTP/1.1\r\nhost: a\r\n\r\n");
        await until(() => statusesIn(connection.text).includes("404"));
      },
      { variables },
    );
  });

  it("a request to another address goes on untouched, and nothing is opened for it", async () => {
    const untouched: unknown[] = [];
    const listener = (receiver: Receiver): RequestListener => {
      const handle = toNodeHandler(receiver);
      return (request, response) =>
        handle(request, response, async (error) => {
          const { readableDidRead, readableFlowing } = request;
          untouched.push({ error, readableDidRead, readableFlowing, headers: response.getHeaders() });
          response.end(await buffer(request));
        });
    };
    await withServer(listener, async ({ origin, target }) => {
      const response = await fetch(`${origin}/orders`, { method: "POST", body: "an order" });
      expect(await response.text()).toBe("an order");
      expect(untouched).toEqual([{ error: undefined, readableDidRead: false, readableFlowing: null, headers: {} }]);
      await expect(countOf(target, "oncehook_callbacks")).rejects.toThrow();
    });
  });

  it("a handler without a next returns 404 for another address", () =>
    withServer(direct, async ({ origin }) => {
      const response = await fetch(`${origin}/orders`);
      expect([response.status, await response.json()]).toEqual([404, { error: "not found" }]);
    }));

  it("a client that leaves in the middle of a body leaves nothing but an entry of the callback log", () =>
    withServer(direct, async (scene) => {
      await scene.receiver.ready();
      const { head, body } = rawCallback(stripeCallback());
      const { socket } = await connectTo(scene);
      socket.write(head + body.slice(0, 20));
      const { socket: probe } = await connectTo(scene);
      probe.destroy();
      socket.destroy();
      await until(async () => {
        await scene.receiver.flush();
        return (await countOf(scene.target, "oncehook_callbacks")) === 1;
      });
      expect(await countOf(scene.target, "oncehook_records")).toBe(0);
      expect((await post(scene.origin, stripeCallback())).status).toBe(200);
    }));

  it("pipelined requests get their responses in order, over one connection", () =>
    withServer(direct, async (scene) => {
      const forged = rawCallback(stripeCallback("evt_forged", "whsec_of_somebody_else"));
      const signed = rawCallback(stripeCallback());
      const connection = await connectTo(scene);
      connection.socket.write(signed.head + signed.body + forged.head + forged.body + signed.head + signed.body);
      await until(() => statusesIn(connection.text).length === 3);
      expect(statusesIn(connection.text)).toEqual(["200", "401", "200"]);
      await until(() => connection.text.includes("already_processed"));
      expect(connection.isClosed).toBe(false);
    }));

  it("a refused body ends its connection once the client has the response, and no other", () =>
    withServer(
      direct,
      async (scene) => {
        const [refused, other] = [await connectTo(scene), await connectTo(scene)];
        const large = rawCallback(stripeCallback(undefined, undefined, { pad: "x".repeat(200_000) }));
        refused.socket.write(large.head + large.body);
        await until(() => refused.isClosed);
        expect(refused.text).toMatch(/^HTTP\/1\.1 413 [\s\S]*connection: close/i);
        const signed = rawCallback(stripeCallback());
        other.socket.write(signed.head + signed.body);
        await until(() => statusesIn(other.text).length === 1);
        expect([statusesIn(other.text), other.isClosed]).toEqual([["200"], false]);
      },
      { variables: { ...VARIABLES, MAX_BODY_BYTES: "2048" } },
    ));

  it("a body that is refused by its head is read to its end, so that no reset costs the client its response", () =>
    withServer(direct, async (scene) => {
      await scene.receiver.ready();
      const connection = await connectTo(scene);
      const { head, body } = rawCallback(
        stripeCallback(undefined, undefined, { pad: "x".repeat(16_000_000) }),
        "Content-Encoding: gzip",
      );
      const sent = new Promise((resolve) => {
        connection.socket.write(head + body, resolve);
      });
      expect(await sent).toBeNull();
      await until(() => connection.isClosed);
      expect(connection.text).toContain("content encoding not supported");
    }));

  it("a client that expects 100 Continue gets it, and its callback is handled", () =>
    withServer(direct, async (scene) => {
      const connection = await connectTo(scene);
      const { head, body } = rawCallback(stripeCallback(), "Expect: 100-continue");
      connection.socket.write(head);
      await until(() => connection.text === "HTTP/1.1 100 Continue\r\n\r\n");
      connection.socket.write(body);
      await until(() => statusesIn(connection.text).length === 2);
      expect(statusesIn(connection.text)).toEqual(["100", "200"]);
    }));

  it.each<[string, (message: IncomingMessage, bytes: Buffer) => object, number]>([
    ["rawBody is a Buffer", (_message, bytes) => ({ rawBody: bytes, body: {} }), 200],
    ["body is a Buffer", (_message, bytes) => ({ body: bytes }), 200],
    ["body is a text", (_message, bytes) => ({ body: bytes.toString() }), 500],
    ["body is an object", (_message, bytes) => ({ body: JSON.parse(bytes.toString()) }), 500],
  ])("a body that was read before returns by what is left of its bytes: %s", (_name, parsed, status) => {
    const behind = (receiver: Receiver): RequestListener => {
      const handle = toNodeHandler(receiver);
      return async (request, response) => {
        handle(Object.assign(request, parsed(request, await buffer(request))), response);
      };
    };
    return withServer(behind, async ({ origin }) => {
      expect((await post(origin, stripeCallback())).status).toBe(status);
    });
  });
});

describe("the address of a client in an application", () => {
  const variables = { ...VARIABLES, IP_ALLOW_LIST: "192.0.2.0/24" };

  it("an allow list refuses a Request without clientAddress, and the log names the option", () =>
    withServer(
      direct,
      async ({ receiver, lines }) => {
        expect((await receiver.fetch(requestOf(stripeCallback()))).status).toBe(403);
        expect(lines.map((line) => JSON.stringify(line)).join("\n")).toContain("hand it over as clientAddress");
        const known = (clientAddress: string) => receiver.fetch(requestOf(stripeCallback()), { clientAddress });
        expect([(await known("192.0.2.9")).status, (await known("198.51.100.1")).status]).toEqual([200, 403]);
      },
      { variables },
    ));

  it("clientAddress of the handler for Node is the address that an allow list sees", () =>
    withServer(
      (receiver) => toNodeHandler(receiver, { clientAddress: ({ headers }) => String(headers["x-client"]) }),
      async ({ origin }) => {
        const { body, headers } = stripeCallback();
        const from = async (client: string) =>
          (await post(origin, { id: "", body, headers: { ...headers, "x-client": client } })).status;
        expect([await from("192.0.2.9"), await from("198.51.100.1")]).toEqual([200, 403]);
      },
      { variables },
    ));

  it("a rate limit does not count a Request without clientAddress, and the log says so once", () =>
    withServer(
      direct,
      async ({ receiver, lines }) => {
        for (let attempt = 1; attempt <= 3; attempt += 1)
          expect((await receiver.fetch(requestOf(stripeCallback()))).status).toBe(200);
        expect(lines.filter(({ msg }) => String(msg).includes("rate limits do not count"))).toHaveLength(1);
        const known = () => receiver.fetch(requestOf(stripeCallback()), { clientAddress: "192.0.2.9" });
        expect([(await known()).status, (await known()).status, (await known()).status]).toEqual([200, 200, 429]);
      },
      { file: { sources: { billing: stripe({ secret: STRIPE_SECRET, rate: "2/minute" }) } } },
    ));
});
