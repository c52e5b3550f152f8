import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ContractEnvironment } from "../../../src/sources/contract/event-contract.ts";
import type { Handshake } from "../../../src/sources/contract/handshakes.ts";
import type { PlatformResponse } from "../../../src/sources/index.ts";
import type { SignedRequest } from "../../../src/sources/request.ts";
import { contractOf, requestOf } from "../../support/contract.ts";

const SECRET = "the secret of the platform";
const TARGET = "/api/source/callback";
const TEXT = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
const get = (query: string, headers: Record<string, string> = {}) =>
  requestOf("", { method: "GET", target: `${TARGET}?${query}`, headers });
const hmac = (text: string, encoding: "hex" | "base64") => createHmac("sha256", SECRET).update(text).digest(encoding);

const contractWith = (handshake: Handshake, environment: Partial<ContractEnvironment> = {}) =>
  contractOf({ id: "body.id", type: "body.type", handshakes: [handshake] }, environment);

/** What a handshake answers, asked where it is asked; undefined where the request is none. */
async function answerTo(handshake: Handshake, request: SignedRequest, environment: Partial<ContractEnvironment> = {}) {
  const contract = contractWith(handshake, environment);
  if (!handshake.isSigned) return await contract.challenge?.(request);
  const read = contract.read(request);
  return read.kind === "handshake" ? await read.respond() : undefined;
}

async function bodyOf(handshake: Handshake, request: SignedRequest): Promise<unknown> {
  const { status, body } = (await answerTo(handshake, request)) as PlatformResponse;
  expect(status).toBe(200);
  return JSON.parse(body);
}

const META: Handshake = {
  isSigned: false,
  method: "GET",
  when: { "query.hub.mode": "subscribe" },
  verifyToken: { at: "query.hub.verify_token", values: ["new token", "old token"] },
  reply: { kind: "text", at: "query.hub.challenge" },
};
const meta = (token: string, challenge = "1158201444") =>
  get(
    new URLSearchParams({
      "hub.mode": "subscribe",
      "hub.verify_token": token,
      "hub.challenge": challenge,
    }).toString(),
  );
const X: Handshake = {
  isSigned: false,
  method: "GET",
  when: { "query.crc_token": true },
  reply: {
    kind: "json",
    fields: {
      response_token: { hmac: "query.crc_token", secret: SECRET, encoding: "base64", prefix: "sha256=" },
    },
  },
};
const SLACK: Handshake = {
  isSigned: true,
  when: { "body.type": "url_verification" },
  reply: { kind: "json", fields: { challenge: "body.challenge" } },
};
const ASANA: Handshake = {
  isSigned: false,
  when: { "header.X-Hook-Secret": true },
  without: "X-Hook-Signature",
  reply: { kind: "learn", at: "header.X-Hook-Secret", header: "X-Hook-Secret" },
};
const NOTION: Handshake = {
  isSigned: false,
  when: { "body.verification_token": true },
  without: "X-Notion-Signature",
  reply: { kind: "learn", at: "body.verification_token" },
};
const SNS: Handshake = {
  isSigned: true,
  when: { "body.Type": "SubscriptionConfirmation" },
  reply: { kind: "visit", at: "body.SubscribeURL", hosts: [/^sns\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?$/] },
};
const subscription = (url: string) => requestOf({ Type: "SubscriptionConfirmation", SubscribeURL: url });
const SNS_URL = "https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37";

describe("a handshake", () => {
  it("a handshake of a GET query is answered with its text, as Meta wants", async () => {
    expect(await answerTo(META, meta("new token"))).toEqual({
      status: 200,
      headers: TEXT,
      body: "1158201444",
    });
  });

  it("a handshake of a POST query is answered with its text, as Microsoft Graph wants", async () => {
    const graph: Handshake = {
      isSigned: false,
      when: { "query.validationToken": true },
      reply: { kind: "text", at: "query.validationToken" },
    };
    const request = requestOf("", { target: `${TARGET}?validationToken=Validation%3A+Testing+client` });
    expect(await answerTo(graph, request)).toMatchObject({
      body: "Validation: Testing client",
      headers: TEXT,
    });
  });

  it("a handshake of a GET query is answered with JSON, as Strava wants", async () => {
    const strava: Handshake = {
      ...META,
      reply: { kind: "json", fields: { "hub.challenge": "query.hub.challenge" } },
    };
    expect(await bodyOf(strava, meta("new token"))).toEqual({ "hub.challenge": "1158201444" });
  });

  it("a handshake of a GET query is answered with a hash over the registered address, as eBay wants", async () => {
    const ebay: Handshake = {
      isSigned: false,
      method: "GET",
      when: { "query.challenge_code": true },
      reply: {
        kind: "json",
        fields: { challengeResponse: { sha256: ["query.challenge_code", "=token", "url"] } },
      },
    };
    const text = "a8628072token" + "https://hooks.example.com/api/source/callback";
    expect(await bodyOf(ebay, get("challenge_code=a8628072"))).toEqual({
      challengeResponse: createHash("sha256").update(text).digest("hex"),
    });
  });

  it("a handshake of a GET query is answered with an HMAC, as X wants", async () => {
    expect(await bodyOf(X, get("crc_token=MTIzNDU2Nzg5MA=="))).toEqual({
      response_token: `sha256=${hmac("MTIzNDU2Nzg5MA==", "base64")}`,
    });
  });

  it("a handshake of a GET query is answered with the code and its HMAC, as LinkedIn wants", async () => {
    const linkedIn: Handshake = {
      isSigned: false,
      method: "GET",
      when: { "query.challengeCode": true },
      reply: {
        kind: "json",
        fields: {
          challengeCode: "query.challengeCode",
          challengeResponse: { hmac: "query.challengeCode", secret: SECRET, encoding: "hex" },
        },
      },
    };
    const code = "890e4665-4dfe-4ab1-b689-ed553bceeed0";
    expect(await bodyOf(linkedIn, get(`challengeCode=${code}`))).toEqual({
      challengeCode: code,
      challengeResponse: hmac(code, "hex"),
    });
  });

  it("a handshake of a header is answered with JSON, as Okta wants", async () => {
    const okta: Handshake = {
      isSigned: false,
      method: "GET",
      when: { "header.X-Okta-Verification-Challenge": true },
      reply: { kind: "json", fields: { verification: "header.X-Okta-Verification-Challenge" } },
    };
    expect(await bodyOf(okta, get("", { "X-Okta-Verification-Challenge": "my challenge" }))).toEqual({
      verification: "my challenge",
    });
  });

  it("a handshake of a header is answered with the same header, as RingCentral wants", async () => {
    const ringCentral: Handshake = {
      isSigned: false,
      when: { "header.Validation-Token": true },
      reply: { kind: "header", name: "Validation-Token" },
    };
    expect(await answerTo(ringCentral, requestOf("", { headers: { "Validation-Token": "a-b" } }))).toMatchObject({
      status: 200,
      headers: { "validation-token": "a-b" },
      body: "",
    });
  });

  it("a handshake of a body is answered with JSON, as Slack wants", async () => {
    const body = { token: "Jhj5dZrVaK7ZwHHjRyZWjbDl", challenge: "3eZbrw1aB", type: "url_verification" };
    expect(await bodyOf(SLACK, requestOf(body))).toEqual({ challenge: "3eZbrw1aB" });
  });

  it("a handshake of a body is answered with text, as Twitch wants", async () => {
    const twitch: Handshake = {
      isSigned: true,
      when: { "header.Twitch-Eventsub-Message-Type": "webhook_callback_verification" },
      reply: { kind: "text", at: "body.challenge" },
    };
    const headers = { "Twitch-Eventsub-Message-Type": "webhook_callback_verification" };
    expect(await answerTo(twitch, requestOf({ challenge: "pogchamp-kappa" }, { headers }))).toEqual({
      status: 200,
      headers: TEXT,
      body: "pogchamp-kappa",
    });
  });

  it("a handshake of a body is answered with its HMAC, as Zoom wants", async () => {
    const zoom: Handshake = {
      isSigned: true,
      when: { "body.event": "endpoint.url_validation" },
      reply: {
        kind: "json",
        fields: {
          plainToken: "body.payload.plainToken",
          encryptedToken: { hmac: "body.payload.plainToken", secret: SECRET, encoding: "hex" },
        },
      },
    };
    const plainToken = "qgg8vlvZRS6UYooatFL8Aw";
    const body = { payload: { plainToken }, event_ts: 1654503849680, event: "endpoint.url_validation" };
    expect(await bodyOf(zoom, requestOf(body))).toEqual({
      plainToken,
      encryptedToken: hmac(plainToken, "hex"),
    });
  });

  it("a handshake of a body is answered with its id, as Tebex wants", async () => {
    const tebex: Handshake = {
      isSigned: true,
      when: { "body.type": "validation.webhook" },
      reply: { kind: "json", fields: { id: "body.id" } },
    };
    expect(await bodyOf(tebex, requestOf({ id: "d05ff", type: "validation.webhook" }))).toEqual({
      id: "d05ff",
    });
  });

  it("a handshake by HEAD is answered with a status, as Trello wants", async () => {
    const trello: Handshake = { isSigned: false, method: "HEAD", reply: { kind: "status", status: 200 } };
    expect(await answerTo(trello, requestOf("", { method: "HEAD" }))).toMatchObject({
      status: 200,
      body: "",
    });
    expect(contractWith(trello).methods).toEqual(["POST", "HEAD"]);
  });

  it("a handshake by an empty POST is answered with a status, as Exact Online wants", async () => {
    const exact: Handshake = { isSigned: false, isEmpty: true, reply: { kind: "status", status: 200 } };
    expect(await answerTo(exact, requestOf(""))).toMatchObject({ status: 200 });
    expect(await answerTo(exact, requestOf({ Content: {} }))).toBeUndefined();
  });

  it("a handshake of a type is answered with a status, as Discord wants", async () => {
    const ping = (body?: { type: number }): Handshake => ({
      isSigned: true,
      when: { "body.type": "1" },
      reply: { kind: "status", status: body === undefined ? 204 : 200, ...(body !== undefined && { body }) },
    });
    expect(await bodyOf(ping({ type: 1 }), requestOf({ type: 1 }))).toEqual({ type: 1 });
    expect(await answerTo(ping(), requestOf({ type: 1 }))).toMatchObject({ status: 204, body: "" });
  });

  it("a handshake of a form is found beside events of JSON, as WooCommerce sends it", async () => {
    const woo: Handshake = {
      isSigned: false,
      body: "form",
      when: { "body.webhook_id": true },
      without: "X-WC-Webhook-Signature",
      reply: { kind: "status", status: 200 },
    };
    expect(await answerTo(woo, requestOf("webhook_id=5"))).toMatchObject({ status: 200 });
    expect(await answerTo(woo, requestOf({ id: 1 }))).toBeUndefined();
  });
});

describe("a verify token", () => {
  it("a verify token may be any of those that are configured", async () => {
    expect(await answerTo(META, meta("old token"))).toMatchObject({ status: 200 });
  });

  it.each(["", "another", "new token "])(
    "a verify token that is another is refused, and nothing is echoed: %j",
    async (token) => {
      expect(await answerTo(META, meta(token))).toMatchObject({ kind: "refused", code: "token_mismatch" });
    },
  );

  it("a verify token that is empty stops the start", () => {
    const verifyToken = { at: "query.hub.verify_token", values: [""] };
    expect(() => contractWith({ ...META, verifyToken })).toThrow(TypeError);
  });
});

describe("an echoed text", () => {
  it("an echoed text is bounded to 1 KiB", async () => {
    expect(await answerTo(META, meta("new token", "é".repeat(512)))).toMatchObject({ status: 200 });
    expect(await answerTo(META, meta("new token", "é".repeat(513)))).toMatchObject({
      code: "handshake_invalid",
    });
  });

  it("an echoed text with control characters is refused", async () => {
    expect(await answerTo(META, meta("new token", "a\r\nb"))).toMatchObject({ code: "handshake_invalid" });
  });

  it("an echoed text is never HTML to a browser", async () => {
    expect(await answerTo(META, meta("new token", "<script>alert(1)</script>"))).toMatchObject({
      headers: TEXT,
    });
  });

  it("an echoed text is refused where it is missing, and the message names its place", async () => {
    expect(await answerTo(META, get("hub.mode=subscribe&hub.verify_token=new+token"))).toMatchObject({
      code: "handshake_invalid",
      message: "the query parameter hub.challenge: missing; expected a text or an integer",
    });
  });

  it("an echoed text never carries a line break into a header", async () => {
    const handshake: Handshake = {
      isSigned: true,
      when: { "body.secret": true },
      reply: { kind: "learn", at: "body.secret", header: "X-Secret" },
    };
    const answer = await answerTo(handshake, requestOf({ secret: "a\r\nSet-Cookie: b" }), {
      learn: () => true,
    });
    expect(answer).toMatchObject({ code: "handshake_invalid" });
  });

  it.each(['{"forged":1}', "hmacsha256={}", "hmacsha256=1", "[]", "a".repeat(257)])(
    "an echoed text is not signed for a stranger where it could be an event: %j",
    async (code) => {
      const answer = await answerTo(X, get(new URLSearchParams({ crc_token: code }).toString()));
      expect(answer).toMatchObject({ code: "handshake_invalid" });
    },
  );

  it("an echoed text of JSON is never signed for an unauthenticated sender", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue())), async (body) => {
        const query = new URLSearchParams({ crc_token: JSON.stringify(body) }).toString();
        expect(await answerTo(X, get(query))).toMatchObject({ kind: "refused" });
      }),
    );
  });
});

describe("a secret that the platform chooses", () => {
  it("a secret that the platform chooses is kept before its header is sent back, as Asana wants", async () => {
    const kept: string[] = [];
    const learn = async (secret: string) => kept.push(secret) > 0;
    const answer = await answerTo(ASANA, requestOf("", { headers: { "X-Hook-Secret": "b537207f" } }), {
      learn,
    });
    expect(answer).toMatchObject({ status: 200, headers: { "x-hook-secret": "b537207f" } });
    expect(kept).toEqual(["b537207f"]);
  });

  it("a secret that the platform chooses in an unsigned first body is kept, as Notion wants", async () => {
    const kept: string[] = [];
    const learn = (secret: string) => kept.push(secret) > 0;
    const answer = await answerTo(NOTION, requestOf({ verification_token: "secret_tMrlL1qK5vuQ" }), {
      learn,
    });
    expect(answer).toMatchObject({ status: 200, body: "" });
    expect(kept).toEqual(["secret_tMrlL1qK5vuQ"]);
  });

  it("a secret that the platform chooses is refused where one is known already", async () => {
    const answer = await answerTo(NOTION, requestOf({ verification_token: "forged" }), {
      learn: () => false,
    });
    expect(answer).toMatchObject({ kind: "refused", code: "handshake_invalid" });
  });

  it("a secret that the platform chooses is refused where nothing can keep it", async () => {
    expect(await answerTo(NOTION, requestOf({ verification_token: "secret" }))).toMatchObject({
      code: "handshake_invalid",
    });
  });

  it("a secret that the platform chooses that cannot be kept just now is asked for again", async () => {
    const learn = () => {
      throw new Error("the database is away");
    };
    const answer = answerTo(NOTION, requestOf({ verification_token: "secret" }), { learn });
    await expect(answer).rejects.toThrow("the database is away");
  });

  it("a secret that the platform chooses is not looked for in a request that is signed", async () => {
    const headers = { "X-Notion-Signature": "sha256=00" };
    const answer = await answerTo(NOTION, requestOf({ verification_token: "x" }, { headers }), {
      learn: () => true,
    });
    expect(answer).toBeUndefined();
  });
});

describe("an address to visit", () => {
  it("an address to visit is visited where its host matches, as SNS wants", async () => {
    const visited: string[] = [];
    const visit = async (url: string) => void visited.push(url);
    expect(await answerTo(SNS, subscription(SNS_URL), { visit })).toMatchObject({ status: 200 });
    expect(visited).toEqual([SNS_URL]);
  });

  it.each([
    "http://sns.us-west-2.amazonaws.com/",
    "https://sns.us-west-2.amazonaws.com:8443/",
    "https://user@sns.us-west-2.amazonaws.com/",
    "https://sns.us-west-2.amazonaws.com.evil.example/",
    "https://evil.example/sns.us-west-2.amazonaws.com",
    "https://sns.us-west-2.amazonaws.com@evil.example/",
    "https://169.254.169.254/",
    "file:///etc/passwd",
    "no address",
    `https://sns.us-west-2.amazonaws.com/${"a".repeat(2_048)}`,
  ])("an address to visit of another host is never visited: %.60s", async (url) => {
    const visit = async () => {
      throw new Error("visited");
    };
    expect(await answerTo(SNS, subscription(url), { visit })).toMatchObject({ code: "handshake_invalid" });
  });

  it("an address to visit is not visited before the answer is asked for", () => {
    const visited: string[] = [];
    const visit = async (url: string) => void visited.push(url);
    expect(contractWith(SNS, { visit }).read(subscription(SNS_URL))).toMatchObject({ kind: "handshake" });
    expect(visited).toEqual([]);
  });

  it("an address to visit of an unsigned handshake stops the start", () => {
    expect(() => contractWith({ ...SNS, isSigned: false })).toThrow(TypeError);
  });
});

describe("a request that is no handshake", () => {
  it("a request that is no handshake is left to the signature", async () => {
    const others = [get(""), get("hub.mode=unsubscribe"), requestOf({ id: "1" }), requestOf("", { method: "HEAD" })];
    for (const request of others) expect(await answerTo(META, request)).toBeUndefined();
  });

  it("a request that is no handshake has an event where a signed handshake has none", () => {
    expect(contractWith(SLACK).read(requestOf({ id: "1", type: "message" }))).toMatchObject({
      kind: "event",
    });
  });

  it("a request that is no handshake with a long body is left unread before its signature is verified", async () => {
    const body = { verification_token: "x", filler: "y".repeat(4_096) };
    expect(await answerTo(NOTION, requestOf(body), { learn: () => true })).toBeUndefined();
  });

  it("a handshake by POST without any condition stops the start", () => {
    expect(() => contractWith({ isSigned: true, reply: { kind: "status", status: 200 } })).toThrow(TypeError);
  });

  it("a signed handshake is not asked before the signature", () => {
    expect(contractWith(SLACK).challenge).toBeUndefined();
  });

  it("a request that is no handshake never makes the challenge throw, whatever it holds", () => {
    const contract = contractOf({ id: "body.id", type: "body.type", handshakes: [META, X, ASANA, NOTION] });
    const body = fc.oneof(
      fc.uint8Array(),
      fc.json().map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(fc.constantFrom("GET", "POST", "HEAD"), fc.string(), body, (method, query, bytes) => {
        const answer = contract.challenge?.(requestOf(bytes, { method, target: `${TARGET}?${query}` }));
        expect(answer === undefined || "status" in answer || "code" in answer || answer instanceof Promise).toBe(true);
      }),
    );
  });
});
