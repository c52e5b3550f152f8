import { createCipheriv, createHash, randomBytes, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { custom, dingtalk, lark, okta } from "../../src/sources/platforms/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { type TestReceiver, withReceiver } from "../support/receiver.ts";

const TOKEN = "the-token";
const AES_KEY = "Yue0EfdN5900c1ce5cf6A152c63DDe1808a60c5ecd7";
const OWNER = "ding6ccabc44d2c8d38b";
const ENCRYPT_KEY = "the Encrypt Key of an app";

function handlerOf(source: string, type: string) {
  return defineHandler({ source, type, data: z.object({}), handle: () => ({}) });
}

/** As DingTalk sends it: each time with other random bytes. */
function dingTalkPush(event: object) {
  const text = Buffer.from(JSON.stringify(event));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  const plain = Buffer.concat([randomBytes(16), length, text, Buffer.from(OWNER)]);
  const count = 32 - (plain.length % 32);
  const key = Buffer.from(`${AES_KEY}=`, "base64");
  const cipher = createCipheriv("aes-256-cbc", key, key.subarray(0, 16)).setAutoPadding(false);
  const encrypt = Buffer.concat([cipher.update(plain), cipher.update(Buffer.alloc(count, count))]).toString("base64");
  const sorted = [TOKEN, "1608001896814", "n0nce", encrypt].sort().join("");
  const signature = createHash("sha1").update(sorted).digest("hex");
  return {
    query: `?signature=${signature}&timestamp=1608001896814&nonce=n0nce`,
    body: JSON.stringify({ encrypt }),
  };
}

function larkEncrypted(event: object): string {
  const iv = randomBytes(16);
  const cipher = createCipheriv("aes-256-cbc", createHash("sha256").update(ENCRYPT_KEY).digest(), iv);
  const sealed = Buffer.concat([iv, cipher.update(JSON.stringify(event)), cipher.final()]);
  return JSON.stringify({ encrypt: sealed.toString("base64") });
}

interface Sending {
  readonly query?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly method?: string;
}

async function send(receiver: TestReceiver, source: string, sending: Sending) {
  const { query = "", method = "POST", ...init } = sending;
  const response = await fetch(`${receiver.publicOrigin}/api/${source}/callback${query}`, {
    method,
    ...init,
  });
  return { status: response.status, text: await response.text() };
}

describeFullOnPostgres("encrypted callbacks on %s", (dialect) => {
  it("an event of DingTalk is stored once, however often it is encrypted anew, and each response is encrypted", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const event = { EventType: "user_add_org", UserId: [randomUUID()] };
        for (let count = 0; count < 3; count += 1) {
          const { status, text } = await send(receiver, "ding", dingTalkPush(event));
          expect(status).toBe(200);
          expect(Object.keys(JSON.parse(text))).toEqual(["msg_signature", "timeStamp", "nonce", "encrypt"]);
        }
        expect(await receiver.count("oncehook_records", "source = 'ding'")).toBe(1);
        const forged = dingTalkPush(event);
        expect(
          await send(receiver, "ding", { ...forged, query: forged.query.replace("n0nce", "nonce") }),
        ).toMatchObject({ status: 401 });
        const checked = await send(receiver, "ding", dingTalkPush({ EventType: "check_url" }));
        expect(checked).toMatchObject({ status: 200, text: expect.stringContaining("msg_signature") });
        expect(await receiver.count("oncehook_records")).toBe(1);
      },
      {
        sources: { ding: dingtalk({ secret: TOKEN, aesKey: AES_KEY, ownerKey: OWNER }) },
        handlers: [handlerOf("ding", "user_add_org")],
      },
    ));

  it("an encrypted challenge of Lark is answered unsigned, and an encrypted event without a signature is refused", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const question = { challenge: "ajls384kdjx98XX", token: "t", type: "url_verification" };
        expect(await send(receiver, "lark", { body: larkEncrypted(question) })).toEqual({
          status: 200,
          text: '{"challenge":"ajls384kdjx98XX"}',
        });
        const event = { schema: "2.0", header: { event_id: "1", event_type: "a" }, event: {} };
        expect(await send(receiver, "lark", { body: larkEncrypted(event) })).toMatchObject({ status: 401 });
        const body = larkEncrypted(event);
        const signature = createHash("sha256").update(`1n${ENCRYPT_KEY}${body}`).digest("hex");
        const headers = {
          "x-lark-request-timestamp": "1",
          "x-lark-request-nonce": "n",
          "x-lark-signature": signature,
        };
        expect(await send(receiver, "lark", { body, headers })).toMatchObject({ status: 200 });
        expect(await receiver.count("oncehook_records", "source = 'lark' AND event_id = '1'")).toBe(1);
      },
      { sources: { lark: lark({ secret: ENCRYPT_KEY }) }, handlers: [handlerOf("lark", "a")] },
    ));
});

describe("sources over HTTP", () => {
  it("the check of an address by GET is answered where the source's platform asks so", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const headers = { "x-okta-verification-challenge": "a challenge" };
        expect(await send(receiver, "okta", { method: "GET", headers })).toEqual({
          status: 200,
          text: '{"verification":"a challenge"}',
        });
        expect(await send(receiver, "okta", { method: "GET" })).toMatchObject({ status: 401 });
      },
      { sources: { okta: okta({ secret: "a shared text" }) }, handlers: [handlerOf("okta", "*")] },
    ));

  it("an error of a verify function returns 500, and a false one 401", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const post = (verdict: string) =>
          send(receiver, "own", { body: JSON.stringify({ id: "1" }), headers: { "x-verdict": verdict } });
        expect(await post("throw")).toMatchObject({ status: 500 });
        expect(await post("reject")).toMatchObject({ status: 500 });
        expect(await post("false")).toMatchObject({ status: 401 });
        expect(await post("true")).toMatchObject({ status: 200 });
        expect(await receiver.count("oncehook_records")).toBe(1);
      },
      {
        sources: {
          own: custom({
            verify(_body, headers) {
              if (headers["x-verdict"] === "throw") throw new Error("a mistake");
              if (headers["x-verdict"] === "reject") return Promise.reject(new Error("a mistake"));
              return headers["x-verdict"] === "true";
            },
            id: "body.id",
            type: "=order",
          }),
        },
        handlers: [handlerOf("own", "order")],
      },
    ));
});
