import { describe, expect, it } from "vitest";
import { failed, refused, success } from "../../../src/domain/index.ts";
import { createResponder } from "../../../src/sources/contract/responses.ts";

const DUPLICATE = { kind: "already_processed", result: null, isSameBody: true } as const;
const NOSNIFF = { "x-content-type-options": "nosniff" };

describe("a platform's responses", () => {
  it("an outcome without an entry has the common response", () => {
    const respond = createResponder({ success: { status: 204 } });
    const others = [DUPLICATE, refused("event_invalid"), failed("internal", undefined)];
    expect(others.map(respond)).toEqual([undefined, undefined, undefined]);
  });

  it("a text is sent as text/plain that no browser takes for HTML", () => {
    const respond = createResponder({ success: { body: "success" }, duplicate: { body: "success" } });
    const response = {
      status: 200,
      headers: { "content-type": "text/plain; charset=utf-8", ...NOSNIFF },
      body: "success",
    };
    expect([success({}), DUPLICATE].map(respond)).toEqual([response, response]);
  });

  it("an object is sent as JSON, and any text with the media type of its entry", () => {
    const respond = createResponder({
      success: { body: { code: 0 } },
      refused: { body: "<Ack>false</Ack>", type: "text/xml" },
    });
    expect(respond(success({}))).toMatchObject({
      headers: { "content-type": "application/json; charset=utf-8" },
      body: '{"code":0}',
    });
    expect(respond(refused("event_invalid"))).toMatchObject({ headers: { "content-type": "text/xml" } });
  });

  it("an empty response has no media type", () => {
    expect(createResponder({ success: { status: 204 } })(success({}))).toEqual({
      status: 204,
      headers: NOSNIFF,
      body: "",
    });
  });

  it.each([
    [401, refused("signature_mismatch")],
    [400, refused("event_invalid")],
    [500, failed("internal", undefined)],
    [503, failed("store_unavailable", undefined)],
  ])("a platform's own error text keeps status %i", (status, outcome) => {
    const respond = createResponder({ refused: { body: "fail" }, failed: { body: "fail" } });
    expect(respond(outcome)).toMatchObject({ status, body: "fail" });
  });

  it("an overloaded receiver has an entry of its own", () => {
    const respond = createResponder({ failed: { body: "fail" }, busy: { body: "later" } });
    expect(respond(failed("store_unavailable", undefined))).toMatchObject({ status: 503, body: "later" });
    expect(respond(refused("overloaded"))).toMatchObject({ status: 503, body: "later" });
    expect(respond(failed("internal", undefined))).toMatchObject({ status: 500, body: "fail" });
  });

  it("a documented status replaces ours, with the common error as its body", () => {
    const respond = createResponder({ statuses: { 400: 406 } });
    expect(respond(refused("event_invalid", { message: "data: missing" }))).toMatchObject({
      status: 406,
      body: '{"error":"data: missing"}',
    });
    expect(respond(refused("signature_missing"))).toBeUndefined();
  });

  it("a documented status replaces ours in an entry too", () => {
    const respond = createResponder({ statuses: { 500: 502 }, failed: { body: "fail" } });
    expect(respond(failed("internal", undefined))).toMatchObject({ status: 502, body: "fail" });
  });

  it("a function makes the response of each outcome where it must be signed", () => {
    const respond = createResponder({
      success: (outcome) => ({ status: 200, headers: { signature: `of ${outcome.kind}` }, body: "{}" }),
    });
    expect(respond(success({}))).toEqual({ status: 200, headers: { signature: "of success" }, body: "{}" });
  });
});
