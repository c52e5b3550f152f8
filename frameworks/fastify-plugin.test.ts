import { connect } from "node:http2";
import { text } from "node:stream/consumers";
import fastify, { type FastifyServerOptions } from "fastify";
import { describe, expect, it } from "vitest";
import { oncehook } from "../src/embed/fastify.ts";
import type { Receiver } from "../src/embed/index.ts";
import { stripe } from "../src/sources/platforms/index.ts";
import {
  type ApplicationOptions,
  CALLBACK_PATH,
  STRIPE_SECRET,
  stripeCallback,
  VARIABLES,
  withApplication,
} from "../test/support/application.ts";
import { withDatabase } from "../test/support/databases.ts";

/** Lends an application of Fastify with these options. */
function withFastify(
  { fastifyOptions = {}, ...options }: ApplicationOptions & { readonly fastifyOptions?: FastifyServerOptions },
  use: (origin: string, receiver: Receiver) => Promise<void>,
): Promise<void> {
  return withDatabase("sqlite", (target) =>
    withApplication(
      target,
      async ({ receiver }) => {
        const app = fastify({ forceCloseConnections: true, ...fastifyOptions });
        app.register(oncehook, { receiver });
        app.setNotFoundHandler((_request, reply) => reply.code(404).send("there is nothing"));
        const origin = await app.listen({ port: 0, host: "127.0.0.1" });
        try {
          await use(origin, receiver);
        } finally {
          await app.close();
        }
      },
      options,
    ),
  );
}

async function post(origin: string, path = CALLBACK_PATH, more: Record<string, string> = {}): Promise<number> {
  const { body, headers } = stripeCallback();
  return (await fetch(origin + path, { method: "POST", body, headers: { ...headers, ...more } })).status;
}

describe("the plugin of oncehook/fastify", () => {
  const listed = { variables: { ...VARIABLES, IP_ALLOW_LIST: "192.0.2.0/24" } };
  const forwarded = { "x-forwarded-for": "192.0.2.9" };

  it("the client's address is request.ip, which Fastify's trustProxy reads from headers", async () => {
    await withFastify({ ...listed, fastifyOptions: { trustProxy: true } }, async (origin) => {
      expect([await post(origin, CALLBACK_PATH, forwarded), await post(origin)]).toEqual([200, 403]);
    });
  });

  it("a header says nothing of the client's address without trustProxy", async () => {
    await withFastify(listed, async (origin) => {
      expect(await post(origin, CALLBACK_PATH, forwarded)).toBe(403);
    });
  });

  it("a source with a parameter in its path is served, and other paths are the application's", async () => {
    const secret = ({ params }: { params: Readonly<Record<string, string>> }) =>
      params.shop === "one" ? STRIPE_SECRET : undefined;
    const file = { sources: { billing: stripe({ secret, path: "/hooks/:shop" }) } };
    await withFastify({ file }, async (origin) => {
      expect([await post(origin, "/hooks/one"), await post(origin, CALLBACK_PATH)]).toEqual([200, 404]);
      expect(await post(origin, "/hooks/two")).toBeGreaterThanOrEqual(400);
      // No value of a parameter, so that no source has this address.
      expect(await post(origin, "/hooks/a%20b")).toBe(404);
    });
  });

  it.each([false, true])(
    "a slash too many at the end gets the right address, ignoreTrailingSlash %s",
    async (ignores) => {
      await withFastify({ fastifyOptions: { routerOptions: { ignoreTrailingSlash: ignores } } }, async (origin) => {
        const response = await fetch(`${origin}${CALLBACK_PATH}/`, { method: "POST", ...stripeCallback() });
        expect([response.status, await response.text()]).toEqual([404, expect.stringContaining(CALLBACK_PATH)]);
        expect(await post(origin)).toBe(200);
      });
    },
  );

  it("a method that the address does not take returns 405", async () => {
    await withFastify({}, async (origin) => {
      expect((await fetch(origin + CALLBACK_PATH, { method: "PUT", body: "{}" })).status).toBe(405);
    });
  });

  it("a body of any content type reaches the receiver", async () => {
    await withFastify({}, async (origin) => {
      for (const type of ["text/plain", "application/cloudevents+json", "multipart/form-data; boundary=x"])
        expect([type, await post(origin, CALLBACK_PATH, { "content-type": type })]).toEqual([type, 200]);
    });
  });

  it("a callback over HTTP/2 is handled once", async () => {
    await withDatabase("sqlite", (target) =>
      withApplication(target, async ({ receiver }) => {
        const app = fastify({ http2: true, forceCloseConnections: true });
        app.register(oncehook, { receiver });
        const session = connect(await app.listen({ port: 0, host: "127.0.0.1" }));
        const { body, headers } = stripeCallback();
        try {
          for (const status of ["success", "already_processed"]) {
            const stream = session.request({ ":path": CALLBACK_PATH, ":method": "POST", ...headers });
            stream.end(body);
            expect(JSON.parse(await text(stream))).toMatchObject({ status });
          }
        } finally {
          session.destroy();
          await app.close();
        }
      }),
    );
  });

  it("the application's end leaves the receiver open", async () => {
    await withDatabase("sqlite", (target) =>
      withApplication(target, async ({ receiver }) => {
        const app = fastify();
        app.register(oncehook, { receiver });
        await app.ready();
        await app.close();
        await expect(receiver.ready()).resolves.toBeUndefined();
      }),
    );
  });

  it("a registration without a receiver is refused", async () => {
    const app = fastify();
    app.register(oncehook, {} as never);
    await expect(app.ready()).rejects.toThrow("app.register(oncehook, { receiver }): expected the receiver");
  });
});
