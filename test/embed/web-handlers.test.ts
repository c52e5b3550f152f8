import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { toLambdaHandler, toNextJsHandler, toNodeHandler, toSvelteKitHandler } from "../../src/embed/index.ts";
import { stripe, twilio } from "../../src/sources/platforms/index.ts";
import { requestOf, STRIPE_SECRET, stripeCallback, withApplication } from "../support/application.ts";
import { withDatabase } from "../support/databases.ts";

type Options = NonNullable<Parameters<typeof withApplication>[2]>;
type Use = Parameters<typeof withApplication>[1];

const onSqlite = (use: Use, options?: Options) =>
  withDatabase("sqlite", (target) => withApplication(target, use, options));
const allowing = { file: { sources: { billing: stripe({ secret: STRIPE_SECRET, addresses: ["192.0.2.7"] }) } } };

describe("toNextJsHandler", () => {
  it("a receiver that a function returns is made by the first request, and not before", () =>
    onSqlite(async ({ receiver }) => {
      let made = 0;
      const { POST } = toNextJsHandler(() => {
        made += 1;
        return receiver;
      });
      expect(made).toBe(0);
      expect((await POST(requestOf(stripeCallback()))).status).toBe(200);
      expect(made).toBe(1);
    }));

  it("an allow list refuses callbacks until clientAddress says where they come from", () =>
    onSqlite(async ({ receiver }) => {
      expect((await toNextJsHandler(receiver).POST(requestOf(stripeCallback()))).status).toBe(403);
      const clientAddress = (request: Request) => request.headers.get("x-real-ip");
      const { POST } = toNextJsHandler(receiver, { clientAddress });
      const request = requestOf(stripeCallback());
      request.headers.set("x-real-ip", "192.0.2.7");
      expect((await POST(request)).status).toBe(200);
    }, allowing));

  it("waitUntil gets the work after a response, which stores its log", () =>
    onSqlite(async ({ receiver }) => {
      const waited: Promise<unknown>[] = [];
      const { POST } = toNextJsHandler(receiver, { waitUntil: (promise) => void waited.push(promise) });
      await POST(requestOf(stripeCallback()));
      expect(await Promise.all(waited)).toEqual([undefined]);
    }));
});

describe("toSvelteKitHandler", () => {
  it("the client's address is that of SvelteKit", () =>
    onSqlite(async ({ receiver }) => {
      const { POST } = toSvelteKitHandler(receiver);
      const send = (address: string) => POST({ request: requestOf(stripeCallback()), getClientAddress: () => address });
      expect((await send("192.0.2.7")).status).toBe(200);
      expect((await send("198.51.100.1")).status).toBe(403);
    }, allowing));

  it("a signed address is taken as the Node adapter got it, and not as its Request spells it", () =>
    onSqlite(
      async ({ receiver }) => {
        const url = "/api/sms/callback?q='b'";
        const body = "CallSid=CA1&CallStatus=ringing";
        const row = "CallSidCA1CallStatusringing";
        const signature = createHmac("sha1", "a-token-of-twilio")
          .update(`https://app.example${url}${row}`)
          .digest("base64");
        const headers = { "content-type": "application/x-www-form-urlencoded", "x-twilio-signature": signature };
        const event = eventOf(new Request(`https://app.example${url}`, { method: "POST", body, headers }));
        const { POST } = toSvelteKitHandler(receiver);
        expect((await POST({ ...event, platform: { req: { url } } })).status).toBe(200);
      },
      {
        baseUrl: "https://app.example",
        file: { sources: { sms: twilio({ secret: "a-token-of-twilio" }) }, handlers: [] },
      },
    ));

  it("GET and HEAD reach the receiver, which allows them where a platform's handshake does", () =>
    onSqlite(async ({ receiver }) => {
      const { GET, HEAD } = toSvelteKitHandler(receiver);
      const request = (method: string) => new Request(requestOf(stripeCallback()).url, { method });
      const answers = [await GET(eventOf(request("GET"))), await HEAD(eventOf(request("HEAD")))];
      expect(answers.map(({ status, headers }) => [status, headers.get("allow")])).toEqual([
        [405, "POST"],
        [405, "POST"],
      ]);
    }));
});

describe("an adapter that gets no receiver of createReceiver", () => {
  it.each([
    ["toNodeHandler", toNodeHandler],
    ["toNextJsHandler", toNextJsHandler],
    ["toSvelteKitHandler", toSvelteKitHandler],
    ["toLambdaHandler", toLambdaHandler],
  ] as const)("%s is refused where the application makes it", (name, adapter) =>
    onSqlite(async ({ receiver }) => {
      const expected = `${name}(receiver): expected the receiver that createReceiver returns`;
      for (const other of [undefined, { ...receiver }, Promise.resolve(receiver)])
        expect(() => adapter(other as never)).toThrow(expected);
    }),
  );

  it("a maker's receiver is refused at the first request", async () => {
    const { POST } = toNextJsHandler(() => ({ fetch: async () => new Response() }) as never);
    await expect(POST(requestOf(stripeCallback()))).rejects.toThrow("and got another object");
  });
});

const eventOf = (request: Request) => ({ request, getClientAddress: () => "192.0.2.7" });
