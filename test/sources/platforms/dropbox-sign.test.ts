import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/domain/index.ts";
import { dropboxSign } from "../../../src/sources/platforms/index.ts";
import { requestOf } from "../../support/contract.ts";
import { hmac, SECRET } from "../../support/documented-preset.ts";
import { answerTo, openPreset, verifiedEvents } from "../../support/preset.ts";

const TIME = "1525470811";

function eventOf(type = "signature_request_sent", over: JsonObject = {}): JsonObject {
  const event_metadata = { related_signature_id: null, reported_for_account_id: "6152" };
  return { event_type: type, event_time: TIME, event_hash: hmac(TIME + type), event_metadata, ...over };
}

function sentAs(body: JsonObject, kind: "multipart" | "form" | "json" = "multipart") {
  const text = JSON.stringify(body);
  if (kind === "json") return requestOf(text, { headers: { "content-type": "application/json" } });
  if (kind === "form") {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    return requestOf(new URLSearchParams({ json: text }).toString(), { headers });
  }
  const part = `--b\r\nContent-Disposition: form-data; name="json"\r\n\r\n${text}\r\n--b--\r\n`;
  return requestOf(part, { headers: { "content-type": "multipart/form-data; boundary=b" } });
}

const preset = dropboxSign({ secret: [SECRET, "the previous key"] });
const verify = (body: JsonObject) => openPreset(preset).scheme.verify(sentAs(body));

describe("a callback of Dropbox Sign", () => {
  it.each(["multipart", "form", "json"] as const)("a callback of Dropbox Sign is read from %s", async (kind) => {
    const body = { event: eventOf(), signature_request: { signature_request_id: "21bb" } };
    const [event] = await verifiedEvents(preset, sentAs(body, kind));
    expect(event?.json).toMatchObject({
      event_id: `${TIME}.signature_request_sent.21bb`,
      event_type: "signature_request_sent",
      timestamp: Number(TIME),
    });
  });

  it("a callback that is signed with the previous key is authentic", async () => {
    const event_hash = hmac(`${TIME}signature_request_sent`, "hex", { key: "the previous key" });
    expect(await verify({ event: eventOf("signature_request_sent", { event_hash }) })).toEqual({
      verified: [{ method: "hmac", index: 1 }],
    });
  });

  it("another request and another signature within the same second are other events", async () => {
    const bodies = [
      { event: eventOf(), signature_request: { signature_request_id: "1" } },
      { event: eventOf(), signature_request: { signature_request_id: "2" } },
      {
        event: eventOf("signature_request_sent", { event_metadata: { related_signature_id: "a" } }),
        signature_request: { signature_request_id: "1" },
      },
    ];
    const ids = bodies.map(async (body) => (await verifiedEvents(preset, sentAs(body)))[0]?.eventId);
    expect(new Set(await Promise.all(ids)).size).toBe(3);
  });

  it.each<[string, JsonObject, string]>([
    [
      "another hash",
      { event: eventOf("signature_request_sent", { event_hash: "0".repeat(64) }) },
      "signature_mismatch",
    ],
    [
      "another type",
      { event: eventOf("signature_request_sent", { event_type: "template_created" }) },
      "signature_mismatch",
    ],
    ["another time", { event: eventOf("signature_request_sent", { event_time: "1525470812" }) }, "signature_mismatch"],
    ["a time that is cut elsewhere", { event: eventOf("a", { event_time: "152547081" }) }, "signature_malformed"],
    ["a time that is a number", { event: eventOf("a", { event_time: 1_525_470_811 }) }, "signature_malformed"],
    ["a type with a digit", { event: eventOf("1a") }, "signature_malformed"],
    ["a hash in upper case", { event: eventOf("a", { event_hash: "A".repeat(64) }) }, "signature_malformed"],
    ["no hash", { event: eventOf("a", { event_hash: undefined as never }) }, "signature_missing"],
    ["no event", { signature_request: {} }, "signature_missing"],
  ])("a callback with %s is refused", async (_, body, code) => {
    expect(await verify(body)).toMatchObject({ code });
  });

  it.each([
    ["no bytes", requestOf(""), "signature_missing"],
    ["no JSON", requestOf("{"), "signature_malformed"],
    ["an array", requestOf("[]"), "signature_missing"],
  ])("a callback with %s in its body is refused", async (_, request, code) => {
    expect(await openPreset(preset).scheme.verify(request)).toMatchObject({ code });
  });
});

describe("the answers to Dropbox Sign", () => {
  const received = { status: 200, body: "Hello API Event Received" };

  it("the test of an address returns the text that Dropbox Sign wants", async () => {
    expect(await answerTo(preset, sentAs({ event: eventOf("callback_test") }))).toMatchObject(received);
  });

  it("an event and a duplicate return the text that Dropbox Sign wants", () => {
    const { contract } = openPreset(preset);
    for (const kind of ["success", "already_processed"] as const)
      expect(contract.respond?.({ kind, result: {} } as never)).toMatchObject(received);
  });
});
