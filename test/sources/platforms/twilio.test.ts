import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isRefused, refused } from "../../../src/domain/index.ts";
import { createDiagnosis } from "../../../src/sources/index.ts";
import { square, twilio, twilioEvents } from "../../../src/sources/platforms/index.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";

const TOKEN = "12345678901234567890123456789012";
const FORM = "application/x-www-form-urlencoded";
const environment = {
  name: "twilio",
  clock: { now: () => new Date("2026-03-04T12:00:00Z") },
  origin: () => "https://hooks.example.com",
};
const scheme = twilio({ secret: TOKEN }).createScheme(environment);
const contract = twilio({ secret: TOKEN }).createContract(environment);
const sign = (text: string) => createHmac("sha1", TOKEN).update(text).digest("base64");

interface Sent {
  readonly text: string;
  readonly body?: string;
  readonly target?: string;
  readonly type?: string;
}

function posted({ text, body = "", target = "/api/twilio/callback", type = FORM }: Sent) {
  const headers = { "X-Twilio-Signature": sign(text), "Content-Type": type };
  return requestOf(body, { target, headers });
}

describe("a callback of Twilio", () => {
  const ADDRESS = "https://hooks.example.com/api/twilio/callback";

  it.each([
    ["as it was registered", `${ADDRESS}?name=O'Neil`],
    ["with its port", "https://hooks.example.com:443/api/twilio/callback?name=O'Neil"],
    ["escaped as by Node's querystring", `${ADDRESS}?name=O'Neil`.replace("'", "%27")],
  ])("a callback of Twilio is accepted where the address was signed %s", (_, text) => {
    const request = posted({ text, target: "/api/twilio/callback?name=O'Neil" });
    expect(scheme.verify(request)).toMatchObject({ verified: [{ method: "hmac", index: 0 }] });
  });

  it.each([
    ["https://hooks.example.com:8443", "https://hooks.example.com:8443"],
    ["https://hooks.example.com:8443", "https://hooks.example.com"],
    ["http://[::1]:3000", "http://[::1]"],
    ["http://[::1]", "http://[::1]:80"],
  ])("a callback of Twilio of the registered origin %s may be signed for %s", (registered, signed) => {
    const own = twilio({ secret: TOKEN }).createScheme({ ...environment, origin: () => registered });
    expect(own.verify(posted({ text: `${signed}/api/twilio/callback` }))).toHaveProperty("verified");
  });

  it("a callback of Twilio is signed over each value of a repeated field once, sorted", () => {
    const text = `${ADDRESS}CallSidCA1Digits12Digits1234`;
    const body = "Digits=1234&CallSid=CA1&Digits=12&Digits=1234";
    expect(scheme.verify(posted({ text, body }))).toHaveProperty("verified");
  });

  it("Twilio's signature has one key in every spelling of the address that it fits", () => {
    const query = (text: string) => `/api/twilio/callback${text}`;
    const body = "CallSid=CA1&CallStatus=completed";
    const text = `${ADDRESS}?order=1CallSidCA1CallStatuscompleted`;
    const keys = ["?order=1", "?order=%31", "?&order=1", "?%6frder=1", "?order=1&", "?order=1&&", "?&&order=%31"].map(
      (target) => {
        const result = scheme.verify(posted({ text, body, target: query(target) }));
        if (result instanceof Promise || !("verified" in result)) return "refused";
        return result.signedText?.("", true);
      },
    );
    expect(new Set(keys)).toEqual(new Set([keys[0]]));
    expect(keys[0]).toBe(text);
  });

  it.each([
    ["another host", "https://evil.example/api/twilio/callback"],
    ["plain HTTP", "http://hooks.example.com/api/twilio/callback"],
    ["another path", "https://hooks.example.com/api/other/callback"],
  ])("a callback of Twilio is refused where its signature is for %s", (_, text) => {
    expect(scheme.verify(posted({ text }))).toMatchObject({ code: "signature_mismatch" });
  });

  it("a callback of Twilio is refused where its body is neither a form nor hashed in the address", () => {
    const request = posted({ text: `${ADDRESS}{"a":1}`, body: '{"a":1}', type: "application/json" });
    expect(scheme.verify(request)).toMatchObject({
      code: "signature_malformed",
      detail: "`Content-Type`: expected application/x-www-form-urlencoded, or bodySHA256 in the address",
    });
  });

  it("a callback of Twilio whose body is hashed in the address is read as JSON, whatever its Content-Type", () => {
    const body = '{"type":"signed","a":"x&MessageStatus=delivered&b="}';
    for (const type of ["application/json", FORM, "text/plain"]) {
      const read = contract.read(requestOf(body, { headers: { "Content-Type": type } }));
      expect(read).toMatchObject({ event: { json: { event_type: "signed" } } });
    }
  });

  it("a callback of Twilio that is signed as a form is refused where it would be read as JSON", () => {
    const body = '{"type":"x"}=1';
    expect(scheme.verify(posted({ text: `${ADDRESS}{"type":"x"}1`, body }))).toMatchObject({
      code: "signature_malformed",
    });
  });

  it.each([["abc"], ["00".repeat(32)]])("a callback of Twilio is refused where bodySHA256 is %s", (hash) => {
    const target = `/api/twilio/callback?bodySHA256=${hash}`;
    const text = `${ADDRESS}?bodySHA256=${hash}`;
    expect(scheme.verify(posted({ text, target, body: "{}" }))).toMatchObject({ code: "signature_mismatch" });
  });

  it.each([
    ["%ff=1", "body_not_utf8"],
    ["__proto__=1", "body_forbidden_key"],
    ["%zz", "body_malformed"],
  ])("a callback of Twilio is refused where the form is %s", (body, code) => {
    const detail = `the form: ${code}`;
    expect(scheme.verify(posted({ text: ADDRESS, body }))).toMatchObject({
      code: "signature_malformed",
      detail,
    });
  });

  it("a callback of Twilio has its idempotency token as its id, and without one the hash of its body", () => {
    const body = "MessageSid=SM1&MessageStatus=sent";
    const headers = { "Content-Type": FORM, "I-Twilio-Idempotency-Token": "8fe3c0a2" };
    const [named, bare] = [headers, { "Content-Type": FORM }].map((sent) =>
      contract.read(requestOf(body, { headers: sent })),
    );
    expect(named).toMatchObject({ event: { eventId: "8fe3c0a2" } });
    expect(bare).toMatchObject({ event: { eventId: expect.stringMatching(/^[0-9a-f]{64}$/) } });
    expect(contract.identity).toBe("id");
  });

  it.each([
    ["MessageSid=SM1&SmsStatus=received", "message.received"],
    ["MessageSid=SM1&SmsStatus=sent&MessageStatus=sent", "message.sent"],
    ["CallSid=CA1&CallStatus=in-progress&Digits=1", "call.in-progress"],
    ["CallSid=CA1&RecordingStatus=completed", "recording.completed"],
    ["EventType=onMessageAdded&ConversationSid=CH1", "onMessageAdded"],
    ["VerificationSid=VE1", "callback"],
  ])("a callback of Twilio with %s is of the type %s", (body, type) => {
    const read = contract.read(requestOf(body, { headers: { "Content-Type": FORM } }));
    if (isRefused(read) || read.kind !== "event") throw new Error("no event");
    expect(read.event.typeOf()).toBe(type);
  });

  it("a callback of Twilio by GET is signed over its address, whose query is its event", () => {
    expect(contract.methods).toEqual(["POST", "GET"]);
    const target = "/api/twilio/callback?CallSid=CA1&CallStatus=ringing&From=%2B15005550006";
    const headers = { "X-Twilio-Signature": sign(`https://hooks.example.com${target}`) };
    const request = requestOf("", { method: "GET", target, headers });
    const result = scheme.verify(request);
    if (result instanceof Promise || !("verified" in result)) throw new Error("refused");
    expect(contract.read(request, result.signedText)).toMatchObject({
      event: {
        eventId: expect.stringMatching(/^[0-9a-f]{64}$/),
        json: { event_type: "call.ringing", data: { CallSid: "CA1", From: "+15005550006" } },
      },
    });
  });

  it("a callback of Twilio is responded to with TwiML, that of the handler where it returns some", () => {
    const twiml = "<Response><Message>Hi</Message></Response>";
    expect(contract.respond?.({ kind: "success", result: { twiml } })).toMatchObject({
      status: 200,
      body: twiml,
    });
    expect(contract.respond?.({ kind: "ignored" })).toMatchObject({
      headers: { "content-type": "text/xml; charset=utf-8" },
      body: '<?xml version="1.0" encoding="UTF-8"?><Response/>',
    });
  });
});

describe("a source behind a proxy that maps the path", () => {
  const url = "https://example.com/hooks/twilio";

  it("a source behind a proxy verifies the registered address and signs samples for it, with the query that arrives", () => {
    const mapped = twilio({ secret: TOKEN, url });
    const text = `${url}?order=1CallSidCA1`;
    const sent = posted({ text, body: "CallSid=CA1", target: "/api/twilio/callback?order=1" });
    expect(mapped.createScheme(environment).verify(sent)).toHaveProperty("verified");
    const arrived = "https://hooks.example.com/api/twilio/callback";
    const other = posted({ text: `${arrived}CallSidCA1`, body: "CallSid=CA1" });
    expect(mapped.createScheme(environment).verify(other)).toMatchObject({ code: "signature_mismatch" });
    const at = { method: "POST", target: "/api/twilio/callback", origin: "", now: new Date() };
    const body = Buffer.from("CallSid=CA1");
    expect(mapped.sign?.({ ...at, headers: { "Content-Type": FORM }, body })).toEqual({
      "X-Twilio-Signature": sign(`${url}CallSidCA1`),
    });
  });

  it("a signature over the registered address is found by the diagnosis", () => {
    const diagnose = createDiagnosis({
      ...{ name: "square", title: "Square", isOwn: false, hmac: square({ secret: TOKEN, url }).hmac, url },
      ...{ secrets: () => ["another"], secretName: () => "SQUARE_SECRET", otherSources: [] },
      origin: () => "https://hooks.example.com",
      named: [{ name: "test", secret: TOKEN }],
    });
    const signature = createHmac("sha256", TOKEN).update(`${url}{}`).digest("base64");
    const request = requestOf({}, { headers: { "x-square-hmacsha256-signature": signature } });
    expect(diagnose(refused("signature_mismatch"), request)).toMatchObject({ code: "other_environment" });
  });

  it.each([
    ["/hooks/twilio", "`url`: got"],
    ["https://example.com/hooks?x=1", "without a query"],
    ["ftp://example.com/", "`url`: got"],
  ])("the registered address %s is refused", (wrong, message) => {
    expect(() => twilio({ secret: TOKEN, url: wrong })).toThrow(message);
  });

  it("a registered address beside a path with parameters is refused", () => {
    const options = { secret: TOKEN, url, path: "/hooks/:shop" };
    expect(() => twilio(options)).toThrow("each tenant has another address");
  });
});

describe("a callback of Twilio's Event Streams", () => {
  it("a callback of Twilio's Event Streams has an event for each CloudEvent", () => {
    const events = twilioEvents({ secret: TOKEN }).createContract(environment);
    const event = { specversion: "1.0", type: "com.twilio.messaging.message.sent", id: "EZ1" };
    const body = [
      { ...event, time: "2026-03-04T11:59:00.000Z", data: {} },
      { ...event, id: "EZ2" },
    ];
    const found = eventsOf(events, requestOf(body));
    expect(found.map(({ eventId }) => eventId)).toEqual(["EZ1", "EZ2"]);
    expect(found[0]?.json).toMatchObject({ event_type: event.type, timestamp: 1_772_625_540 });
  });
});
