import { createHash, createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { createHmacScheme } from "../../../src/sources/index.ts";
import type { HmacData } from "../../../src/sources/schemes/hmac-data.ts";
import { signHmacRequest } from "../../../src/sources/schemes/sign-hmac.ts";

const STANDARD: HmacData = {
  key: "whsec",
  signature: {
    header: ["webhook-signature", "svix-signature"],
    encoding: "base64",
    fields: { separator: " ", assignment: ",", value: "v1" },
  },
  signed: "{header.webhook-id|svix-id}.{timestamp}.{body}",
  timestamp: { header: "webhook-timestamp", unit: "seconds", toleranceSeconds: 300 },
};
const SVIX: HmacData = { ...STANDARD, timestamp: { ...STANDARD.timestamp!, header: "svix-timestamp" } };
const GITHUB: HmacData = {
  signature: { header: "X-Hub-Signature-256", encoding: "hex", prefix: "sha256=" },
  signed: "{body}",
};
const SLACK: HmacData = {
  signature: { header: "X-Slack-Signature", encoding: "hex", prefix: "v0=" },
  signed: "v0:{timestamp}:{body}",
  timestamp: { header: "X-Slack-Request-Timestamp", unit: "seconds", toleranceSeconds: 300 },
};
const ADYEN: HmacData = {
  key: "hex",
  signature: { header: "HmacSignature", encoding: "base64" },
  signed: "{body}",
};

interface Vector {
  readonly data: HmacData;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly at: number;
}

/** Published by the platforms: docs or test data of Standard Webhooks, Svix, GitHub, Slack and Adyen. */
const VECTORS: Readonly<Record<string, Vector>> = {
  "Standard Webhooks": {
    data: STANDARD,
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
    body: '{"test": 2432232314}',
    at: 1_614_265_330,
  },
  Svix: {
    data: SVIX,
    secret: "whsec_plJ3nmyCDGBKInavdOK15jsl",
    headers: {
      "svix-id": "msg_loFOjxBNrRLzqYUf",
      "svix-timestamp": "1731705121",
      "svix-signature": "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=",
    },
    body: '{"event_type":"ping","data":{"success":true}}',
    at: 1_731_705_121,
  },
  GitHub: {
    data: GITHUB,
    secret: "It's a Secret to Everybody",
    headers: {
      "X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    },
    body: "Hello, World!",
    at: 0,
  },
  Slack: {
    data: SLACK,
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    headers: {
      "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
      "X-Slack-Request-Timestamp": "1531420618",
    },
    body:
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V" +
      "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=" +
      "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN" +
      "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
    at: 1_531_420_618,
  },
  Adyen: {
    data: ADYEN,
    secret: "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056",
    headers: { HmacSignature: "coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0=" },
    body: "7914073381342284::TestMerchant:TestPayment-1407325143704:1130:EUR:AUTHORISATION:true",
    at: 0,
  },
};

function requestOf(headers: Readonly<Record<string, string>>, body: string | Uint8Array, target = "/hook") {
  const distinct = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]);
  return { method: "POST", target, headers: Object.fromEntries(distinct), body: Buffer.from(body) };
}
const at = (seconds: number) => ({ now: () => new Date(seconds * 1000) });
const CURRENT = { verified: [{ method: "hmac", index: 0 }] };

describe("the published examples of platforms", () => {
  it.each(Object.entries(VECTORS))(
    "the example of %s is accepted",
    (_name, { data, secret, headers, body, at: time }) => {
      const scheme = createHmacScheme(data, { secrets: [secret], clock: at(time) });
      expect(scheme.verify(requestOf(headers, body))).toMatchObject(CURRENT);
    },
  );

  it.each(Object.entries(VECTORS).filter(([name]) => name !== "Svix"))(
    "the example of %s is what signHmacRequest sends",
    (_name, { data, secret, headers, body, at: time }) => {
      const given = { secret, body: Buffer.from(body), headers, now: new Date(time * 1000) };
      const { "webhook-id": _id, ...sent } = headers;
      expect(signHmacRequest(data, given)).toEqual(sent);
    },
  );

  it("what the library of Standard Webhooks signs is accepted, and what signHmacRequest sends is accepted by it", () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const now = new Date();
    const id = "msg_1";
    const body = '{"type":"a.b","text":"für Zoë"}';
    const library = new Webhook(secret);
    const scheme = createHmacScheme(STANDARD, { secrets: [secret], clock: { now: () => now } });
    const theirs = {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
      "webhook-signature": library.sign(id, now, body),
    };
    expect(scheme.verify(requestOf(theirs, body))).toMatchObject(CURRENT);
    const headers = { "webhook-id": id };
    const ours = signHmacRequest(STANDARD, { secret, body: Buffer.from(body), headers, now });
    expect(library.verify(body, { ...headers, ...ours })).toEqual(JSON.parse(body));
  });
});

describe("what else platforms sign", () => {
  const SECRET = "a-secret-of-a-platform";
  const BODY = Buffer.from('{"a":1}');
  const mac = (text: string, algorithm = "sha256") => createHmac(algorithm, SECRET).update(text);
  const origin = () => "https://hooks.example";

  it.each([
    ["{url}{body}", "https://hooks.example/in/x?b=2&id=a%20b" + '{"a":1}'],
    ["{method}\n{path}\n{body}", 'POST\n/in/x\n{"a":1}'],
    ["{target}|{query.b}|{query.id}", "/in/x?b=2&id=a%20b|2|a b"],
    ["hmacsha256={body}", 'hmacsha256={"a":1}'],
    ["{header.X-Id}.{body}.é", 'one.{"a":1}.é'],
  ])("%j is signed from the request as it was sent", (signed, text) => {
    const data: HmacData = { signature: { header: "X-Sig", encoding: "hex" }, signed };
    const scheme = createHmacScheme(data, { secrets: [SECRET], clock: at(0), origin });
    const headers = { "x-sig": mac(text).digest("hex"), "x-id": "one" };
    expect(scheme.verify(requestOf(headers, BODY, "/in/x?b=2&id=a%20b"))).toMatchObject(CURRENT);
  });

  it("a plain hash with the secret in it is accepted, as Lark sends it", () => {
    const data: HmacData = {
      algorithm: "plain-sha256",
      signature: { header: "X-Lark-Signature", encoding: "hex" },
      signed: "{timestamp}{header.X-Lark-Request-Nonce}{secret}{body}",
      timestamp: { header: "X-Lark-Request-Timestamp", unit: "seconds", toleranceSeconds: 300 },
    };
    const digest = createHash("sha256").update(`1700000000nonce${SECRET}{"a":1}`).digest("hex");
    const headers = {
      "x-lark-signature": digest,
      "x-lark-request-nonce": "nonce",
      "x-lark-request-timestamp": "1700000000",
    };
    const scheme = createHmacScheme(data, { secrets: ["old", SECRET], clock: at(1_700_000_000) });
    expect(scheme.verify(requestOf(headers, BODY))).toMatchObject({
      verified: [{ method: "hmac", index: 1 }],
    });
    const other = createHmacScheme(data, { secrets: ["old"], clock: at(1_700_000_000) });
    expect(other.verify(requestOf(headers, BODY))).toMatchObject({ code: "signature_mismatch" });
  });

  it("a key that is derived from the secret signs, as Braintree's does", () => {
    const data: HmacData = {
      algorithm: "sha1",
      key: (secret) => createHash("sha1").update(secret).digest(),
      signature: { header: "X-Sig", encoding: "hex" },
      signed: "{body}",
    };
    const derived = createHash("sha1").update(SECRET).digest();
    const headers = { "x-sig": createHmac("sha1", derived).update(BODY).digest("hex") };
    const scheme = createHmacScheme(data, { secrets: [SECRET], clock: at(0) });
    expect(scheme.verify(requestOf(headers, BODY))).toMatchObject(CURRENT);
  });

  it("fields without names are signatures each, as Synctera sends them", () => {
    const data: HmacData = {
      signature: {
        header: "X-Sig",
        encoding: "hex",
        fields: { separator: ".", assignment: "", value: "" },
      },
      signed: "{body}",
    };
    const headers = { "x-sig": `${"0".repeat(64)}.${mac('{"a":1}').digest("hex")}` };
    const scheme = createHmacScheme(data, { secrets: [SECRET], clock: at(0) });
    expect(scheme.verify(requestOf(headers, BODY))).toMatchObject(CURRENT);
  });

  it.each(["X-One", "X-Two"])("a signature in %s is accepted where either header may hold it", (name) => {
    const data: HmacData = {
      signature: { header: ["X-One", "X-Two"], encoding: "base64" },
      signed: "{body}",
    };
    const wrong = Buffer.alloc(32).toString("base64");
    const headers = { "X-One": wrong, "X-Two": wrong, [name]: mac('{"a":1}').digest("base64") };
    const scheme = createHmacScheme(data, { secrets: [SECRET], clock: at(0) });
    expect(scheme.verify(requestOf(headers, BODY))).toMatchObject(CURRENT);
  });
});
