import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/domain/index.ts";
import {
  bigcommerce,
  brex,
  loops,
  openai,
  polar,
  recall,
  render,
  shipbob,
  standardWebhooks,
  svix,
} from "../../../src/sources/platforms/index.ts";
import { NOW, readSource, verifySource } from "../../support/source.ts";

const SECONDS = String(NOW.getTime() / 1000);
const KEY = Buffer.from("a key of thirty-two bytes, right");
const SECRET = `whsec_${KEY.toString("base64")}`;
const ID = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W";

interface Signing {
  readonly key?: Uint8Array | string;
  readonly prefix?: "webhook" | "svix";
  readonly id?: string;
}

/** As https://www.standardwebhooks.com has it. */
function signed(body: JsonObject, { key = KEY, prefix = "webhook", id = ID }: Signing = {}) {
  const text = JSON.stringify(body);
  const digest = createHmac("sha256", key).update(`${id}.${SECONDS}.${text}`).digest("base64");
  const headers: Record<string, string> = {
    [`${prefix}-id`]: id,
    [`${prefix}-timestamp`]: SECONDS,
    [`${prefix}-signature`]: `v1,${digest}`,
  };
  return { headers, body: text };
}

const CREATED = 1_781_524_000;
const CREATED_ISO = "2026-06-15T11:46:40.000Z";
const CLIENT_SECRET = "a client secret, which is no base64";

/** Bodies in the shape of each platform's documentation. */
const PLATFORMS = [
  ["brex", brex, { event_type: "TRANSFER_PROCESSED", transfer_id: "t1" }, "TRANSFER_PROCESSED", {}],
  ["recall", recall, { event: "bot.done", data: {} }, "bot.done", {}],
  [
    "render",
    render,
    { type: "deploy_ended", timestamp: CREATED_ISO, data: { id: "evt-1" } },
    "deploy_ended",
    { timestamp: CREATED },
  ],
  [
    "loops",
    loops,
    { eventName: "email.delivered", eventTime: CREATED, webhookSchemaVersion: "1.0.0" },
    "email.delivered",
    { timestamp: CREATED },
  ],
] as const;

describe.each(PLATFORMS)("the preset %s", (_name, preset, body, type, expected) => {
  const source = preset({ secret: SECRET });

  it("a preset of Standard Webhooks accepts a signature made after the documentation, and no other", async () => {
    const callback = signed(body);
    expect(await verifySource(source, callback)).toMatchObject({ verified: [{ method: "hmac", index: 0 }] });
    expect(await verifySource(source, { ...callback, body: `${callback.body} ` })).toMatchObject({
      code: "signature_mismatch",
    });
    const other = { ...callback, headers: { ...callback.headers, "webhook-id": "msg_other" } };
    expect(await verifySource(source, other)).toMatchObject({ code: "signature_mismatch" });
  });

  it("a preset of Standard Webhooks reads the signed id and the type", () => {
    expect(readSource(source, signed(body))).toMatchObject([{ event_id: ID, event_type: type, ...expected }]);
  });
});

describe("the preset bigcommerce", () => {
  const source = bigcommerce({ secret: CLIENT_SECRET });
  const body = {
    scope: "store/order/created",
    store_id: "1025646",
    data: { type: "order", id: 250 },
    hash: "dd70c0976e06b67aaf671e73f49dcb79230ebf9d",
    created_at: CREATED,
    producer: "stores/{store_hash}",
  };

  it("the preset bigcommerce has the bytes of the client secret as its key", async () => {
    expect(await verifySource(source, signed(body, { key: CLIENT_SECRET }))).toHaveProperty("verified");
    expect(await verifySource(source, signed(body))).toMatchObject({ code: "signature_mismatch" });
  });

  it("the preset bigcommerce reads the scope as the type", () => {
    expect(readSource(source, signed(body))).toMatchObject([
      { event_id: ID, event_type: "store/order/created", timestamp: CREATED },
    ]);
  });
});

describe("the preset shipbob", () => {
  const source = shipbob({ secret: SECRET });
  const callback = signed({ id: 1, reference_id: "order-1" });
  const headers = { ...callback.headers, "x-webhook-topic": "order.shipped" };

  it("the preset shipbob reads the type from a header that handlers see", async () => {
    expect(await verifySource(source, { ...callback, headers })).toHaveProperty("verified");
    expect(readSource(source, { ...callback, headers })).toMatchObject([
      { event_id: ID, event_type: "order.shipped", headers: { "x-webhook-topic": "order.shipped" } },
    ]);
  });
});

describe("headers of Svix", () => {
  const source = svix({ secret: SECRET });
  const body = { type: "invoice.paid" };

  it.each(["svix", "webhook"] as const)("the headers of Svix may be named %s", async (prefix) => {
    const callback = signed(body, { prefix });
    expect(await verifySource(source, callback)).toHaveProperty("verified");
    expect(readSource(source, callback)).toMatchObject([{ event_id: ID, event_type: "invoice.paid" }]);
  });

  it("the id is the one that is signed, where a request has both names", async () => {
    const own = signed(body, { prefix: "svix" });
    const both = { ...own, headers: { ...own.headers, "webhook-id": "msg_of_a_stranger" } };
    expect(await verifySource(source, both)).toHaveProperty("verified");
    expect(readSource(source, both)).toMatchObject([{ event_id: ID }]);

    const stranger = signed(body);
    const added = { ...stranger, headers: { ...stranger.headers, "svix-id": "msg_of_a_stranger" } };
    expect(await verifySource(source, added)).toMatchObject({ code: "signature_mismatch" });
  });

  it("a sender of Standard Webhooks alone has none", async () => {
    const callback = signed(body, { prefix: "svix" });
    expect(await verifySource(standardWebhooks({ secret: SECRET }), callback)).toMatchObject({
      code: "signature_missing",
    });
  });
});

describe("a header of several signatures", () => {
  const source = standardWebhooks({ secret: SECRET });
  const callback = signed({ type: "invoice.paid" });
  const right = callback.headers["webhook-signature"] as string;
  const wrong = `v1,${Buffer.alloc(32).toString("base64")}`;

  it.each([`${wrong} ${right}`, `${right} ${wrong}`, `v1a,aGVsbG8= ${right}`])(
    "a header of several signatures is authentic where one is right: %s",
    async (signature) => {
      const headers = { ...callback.headers, "webhook-signature": signature };
      expect(await verifySource(source, { ...callback, headers })).toHaveProperty("verified");
    },
  );

  it("a right digest under another version is refused", async () => {
    const headers = { ...callback.headers, "webhook-signature": right.replace("v1,", "v1a,") };
    expect(await verifySource(source, { ...callback, headers })).toMatchObject({
      code: "signature_malformed",
      detail: expect.stringContaining("`v1`"),
    });
  });
});

describe("options and secrets", () => {
  it("the type's place is an option of senders without a preset", () => {
    const source = standardWebhooks({ secret: SECRET, type: ["body.event", "=unnamed"] });
    expect(readSource(source, signed({ event: "ping" }))).toMatchObject([{ event_type: "ping" }]);
    expect(readSource(source, signed({}))).toMatchObject([{ event_type: "unnamed" }]);
  });

  it("a secret that is shown as v1,whsec_ is the same secret", async () => {
    const shown = `v1,${SECRET}`;
    for (const source of [standardWebhooks, svix, openai])
      expect(
        await verifySource(
          source({ secret: shown }),
          signed({ type: "invoice.paid" }, { prefix: source === svix ? "svix" : "webhook" }),
        ),
      ).toHaveProperty("verified");
  });

  it("OpenAI's secret without whsec_ is the key as it is", async () => {
    const source = openai({ secret: "a text" });
    expect(await verifySource(source, signed({ type: "a" }, { key: "a text" }))).toHaveProperty("verified");
    expect(() => openai({ secret: "whsec_no base64" })).toThrow(TypeError);
  });

  it.each([Buffer.from(SECRET), KEY])("Polar's key is the secret's text or what it encodes", async (key) => {
    const source = polar({ secret: ["polar_whs_another", SECRET] });
    expect(await verifySource(source, signed({ type: "order.paid" }, { key }))).toMatchObject({
      verified: [{ method: "hmac", index: 1 }],
    });
  });

  it("BigCommerce's secret may not be missing", () => {
    expect(() => bigcommerce({ secret: undefined })).toThrow("bigcommerce: `secret`");
  });
});
