import { once } from "node:events";
import { type ClientHttp2Session, connect, createSecureServer } from "node:http2";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { type Receiver, toAdminHandler, toNodeHandler } from "../../src/embed/index.ts";
import {
  type ApplicationOptions,
  CALLBACK_PATH,
  type SignedCallback,
  stripeCallback,
  VARIABLES,
  withApplication,
} from "../support/application.ts";
import { certificate } from "../support/certificate.ts";
import { withDatabase } from "../support/databases.ts";
import { withListening } from "../support/listening-server.ts";

interface Scene {
  readonly receiver: Receiver;
  readonly session: ClientHttp2Session;
}

/** Lends a client of an application whose server speaks HTTP/2. */
function withHttp2(use: (scene: Scene) => Promise<void>, options: ApplicationOptions = {}): Promise<void> {
  return withDatabase("sqlite", (target) =>
    withApplication(
      target,
      async ({ receiver }) => {
        const { key, cert } = await certificate("localhost");
        const callbacks = toNodeHandler(receiver);
        const page = toAdminHandler(receiver);
        const server = createSecureServer({ key, cert, allowHTTP1: true }, (request, response) =>
          callbacks(request, response, () => page(request, response)),
        );
        await withListening(server, async (port) => {
          const session = connect(`https://localhost:${port}`, { ca: cert });
          try {
            await use({ receiver, session });
          } finally {
            session.destroy();
          }
        });
      },
      options,
    ),
  );
}

async function request(session: ClientHttp2Session, path: string, sent?: Partial<SignedCallback>) {
  const stream = session.request({ ":path": path, ":method": sent ? "POST" : "GET", ...sent?.headers });
  stream.end(sent?.body);
  const [headers] = await once(stream, "response");
  return { status: headers[":status"], headers, body: await text(stream) };
}

describe("a receiver in an application that speaks HTTP/2", () => {
  it("a signed callback is handled once, and a forged one is refused", () =>
    withHttp2(async ({ session }) => {
      const callback = stripeCallback();
      const first = await request(session, CALLBACK_PATH, callback);
      expect([first.status, JSON.parse(first.body)]).toEqual([200, { status: "success", data: { id: callback.id } }]);
      const again = await request(session, CALLBACK_PATH, callback);
      expect(JSON.parse(again.body)).toEqual({ status: "already_processed" });
      const forged = await request(session, CALLBACK_PATH, stripeCallback("evt_forged", "whsec_of_somebody_else"));
      expect(forged.status).toBe(401);
    }));

  it("the callback log has the headers by name, and no pseudo-header", () =>
    withHttp2(
      async ({ session, receiver }) => {
        await request(session, CALLBACK_PATH, stripeCallback("evt_forged", "whsec_of_somebody_else"));
        await receiver.flush();
        const list = await request(session, "/api/v1/callbacks");
        const [{ id }] = JSON.parse(list.body).items;
        const { headers } = JSON.parse((await request(session, `/api/v1/callbacks/${id}`)).body);
        const names = Object.keys(headers);
        expect(names).toEqual(expect.arrayContaining(["host", "stripe-signature"]));
        expect(names.filter((name) => name.startsWith(":"))).toEqual([]);
      },
      { admin: { authorize: () => "operator" } },
    ));

  it("a header that is sent twice is refused, as it is over HTTP/1.1", () =>
    withHttp2(async ({ session }) => {
      const { body, headers } = stripeCallback();
      const signature = String(headers["stripe-signature"]);
      const twice = { ...headers, "stripe-signature": [signature, signature] } as never;
      expect((await request(session, CALLBACK_PATH, { body, headers: twice })).status).toBe(401);
    }));

  it("a body that is too large returns 413, and the connection serves the next request", () =>
    withHttp2(
      async ({ session }) => {
        const large = stripeCallback(undefined, undefined, { pad: "x".repeat(200_000) });
        const refused = await request(session, CALLBACK_PATH, large);
        expect([refused.status, refused.headers.connection]).toEqual([413, undefined]);
        expect((await request(session, CALLBACK_PATH, stripeCallback())).status).toBe(200);
      },
      { variables: { ...VARIABLES, MAX_BODY_BYTES: "2048" } },
    ));
});
