import { createHmac, generateKeyPairSync } from "node:crypto";
import { SignJWT } from "jose";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { dropboxSign, nylas, postmark, wix, woocommerce } from "../../src/sources/platforms/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { type TestReceiver, withReceiver } from "../support/receiver.ts";

const SECRET = "a secret of this test";
const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const hmac = (text: string, encoding: "hex" | "base64" = "hex") =>
  createHmac("sha256", SECRET).update(text).digest(encoding);

const options = {
  sources: {
    shop: woocommerce({ secret: SECRET }),
    sign: dropboxSign({ secret: SECRET }),
    site: wix({ publicKey: rsa.publicKey.export({ type: "spki", format: "pem" }) as string }),
    mail: postmark({ secret: SECRET, user: "mailer" }),
    calendar: nylas({ secret: SECRET }),
  },
  handlers: [
    defineHandler({
      source: "calendar",
      type: "event.created",
      data: z.object({}),
      handle: () => {
        throw new Error("the calendar is away");
      },
    }),
  ],
};

async function send(receiver: TestReceiver, source: string, body: string, headers: Record<string, string>) {
  const url = `${receiver.publicOrigin}/api/${source}/callback`;
  const response = await fetch(url, { method: "POST", body, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describeFullOnPostgres("the answers of platforms on %s", (dialect) => {
  it("a ping of WooCommerce returns 200 and is no event; each delivery of an order is one", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const form = { "content-type": "application/x-www-form-urlencoded" };
        expect(await send(receiver, "shop", "webhook_id=12", form)).toMatchObject({ status: 200 });
        expect(await receiver.count("oncehook_records")).toBe(0);
        const order = JSON.stringify({ id: 727 });
        const headers = {
          "content-type": "application/json",
          "x-wc-webhook-signature": hmac(order, "base64"),
          "x-wc-webhook-topic": "order.created",
        };
        const answers = await Promise.all([1, 2].map(() => send(receiver, "shop", order, headers)));
        expect(answers.map(({ status }) => status)).toEqual([200, 200]);
        expect(await receiver.count("oncehook_records")).toBe(2);
      },
      options,
    ));

  it("a form of Dropbox Sign is stored once under each boundary, and returns its text", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const event = { event_time: "1525470811", event_type: "signature_request_signed" };
        const event_hash = hmac(event.event_time + event.event_type);
        const request = { signature_request_id: "21bb" };
        const json = JSON.stringify({ event: { ...event, event_hash }, signature_request: request });
        for (const boundary of ["first", "second"]) {
          const part = `Content-Disposition: form-data; name="json"\r\n\r\n${json}`;
          const body = `--${boundary}\r\n${part}\r\n--${boundary}--\r\n`;
          const type = { "content-type": `multipart/form-data; boundary=${boundary}` };
          expect(await send(receiver, "sign", body, type)).toMatchObject({
            status: 200,
            text: "Hello API Event Received",
          });
        }
        expect(await receiver.count("oncehook_records")).toBe(1);
      },
      options,
    ));

  it("a token of Wix is its event, whatever its media type", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const inner = JSON.stringify({ id: "0614", entityFqdn: "wix.ecom.v1.order" });
        const data = JSON.stringify({ eventType: "wix.ecom.v1.order_created", data: inner });
        const token = await new SignJWT({ data }).setProtectedHeader({ alg: "RS256" }).sign(rsa.privateKey);
        const type = { "content-type": "text/plain" };
        expect(await send(receiver, "site", token, type)).toMatchObject({ status: 200 });
        expect(await send(receiver, "site", `${token}A`, type)).toMatchObject({ status: 401 });
        expect(await receiver.count("oncehook_records", "event_id = 'wix.ecom.v1.order.0614'")).toBe(1);
      },
      options,
    ));

  it("a callback of Postmark needs its user and password", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const bounce = JSON.stringify({ RecordType: "Bounce", ID: 42 });
        const authorization = `Basic ${Buffer.from(`mailer:${SECRET}`).toString("base64")}`;
        const json = { "content-type": "application/json" };
        const refused = await send(receiver, "mail", bounce, json);
        expect(refused.status).toBe(401);
        expect(refused.headers.get("www-authenticate")).toContain("Basic");
        expect(await send(receiver, "mail", bounce, { ...json, authorization })).toMatchObject({
          status: 200,
        });
        expect(await receiver.count("oncehook_records", "event_id = 'Bounce.42'")).toBe(1);
      },
      options,
    ));

  it("a failed event of Nylas returns 503, after which it retries", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const body = JSON.stringify({ specversion: "1.0", id: "1", type: "event.created", data: {} });
        const headers = { "content-type": "application/json", "x-nylas-signature": hmac(body) };
        expect(await send(receiver, "calendar", body, headers)).toMatchObject({ status: 503 });
      },
      options,
    ));
});
