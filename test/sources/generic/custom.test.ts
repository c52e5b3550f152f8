import { createHmac, timingSafeEqual } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { custom } from "../../../src/sources/platforms/index.ts";
import { createCustomScheme, type VerifyCallback } from "../../../src/sources/schemes/custom.ts";
import { ORIGIN, opened, sent } from "../../support/preset-source.ts";

const BODY = { id: "evt-1", type: "order.placed" };
const source = (verify: VerifyCallback) => custom({ verify, id: "body.id", type: "body.type" });
const verdictOf = async (verify: unknown, request = sent(BODY)) =>
  opened(source(verify as VerifyCallback)).scheme.verify(request);

describe("a source with a verify function of its own", () => {
  it("a source with a verify function of its own verifies with what the function says of bytes, headers and address", async () => {
    const secrets = ["current", "previous"];
    const verify: VerifyCallback = (body, headers, url) =>
      secrets.findIndex((secret) => {
        const right = createHmac("sha512", secret).update(url).update(body).digest();
        const claimed = Buffer.from(headers["x-acme"] ?? "", "hex");
        return claimed.length === right.length && timingSafeEqual(claimed, right);
      });
    const url = `${ORIGIN}/api/source/callback?a=1`;
    const signed = (secret: string) => {
      const text = JSON.stringify(BODY);
      return createHmac("sha512", secret).update(url).update(text).digest("hex");
    };
    const request = (secret: string) => sent(BODY, { query: "?a=1", headers: { "X-Acme": signed(secret) } });
    expect(await verdictOf(verify, request("current"))).toEqual({
      verified: [{ method: "custom", index: 0 }],
    });
    expect(await verdictOf(verify, request("previous"))).toMatchObject({ verified: [{ index: 1 }] });
    expect(await verdictOf(verify, request("other"))).toMatchObject({ code: "signature_mismatch" });
    expect(await verdictOf(verify)).toMatchObject({ code: "signature_mismatch" });
  });

  it.each([
    ["true", () => true, { verified: [{ index: 0 }] }],
    ["false", () => false, { code: "signature_mismatch" }],
    ["-1", () => -1, { code: "signature_mismatch" }],
    ["a promise of true", async () => true, { verified: [{ index: 0 }] }],
    ["a promise of 2", async () => 2, { verified: [{ index: 2 }] }],
    ["a promise of false", async () => false, { code: "signature_mismatch" }],
  ])("%s is a verdict", async (_case, verify, verdict) => {
    expect(await verdictOf(verify)).toMatchObject(verdict);
  });

  it.each([
    ["an error", () => JSON.parse("{")],
    ["a rejection", () => Promise.reject(new Error("down"))],
    ["nothing", () => undefined],
    ["null", () => null],
    ["a truthy text", () => "yes"],
    ["an object", () => ({ ok: true })],
    ["no whole number", () => 0.5],
    ["no number", () => Number.NaN],
    ["another negative number", () => -2],
    ["a promise of nothing", async () => undefined],
  ])("%s is our failure, and nobody's authentic callback", async (_case, verify) => {
    expect(await verdictOf(verify)).toMatchObject({ kind: "failed", code: "internal" });
  });

  it("a promise that never ends fails at its time limit", async () => {
    const verify = () => new Promise<boolean>(() => undefined);
    const scheme = createCustomScheme({ verify, origin: () => ORIGIN, timeLimitMs: 5 });
    expect(await scheme.verify(sent(BODY))).toMatchObject({
      kind: "failed",
      cause: expect.objectContaining({ message: "verify: took longer than 5 ms" }),
    });
  });

  it("no body waits for a promise where too many wait already", async () => {
    const verify = vi.fn(async () => Promise.reject(new Error("late")));
    const scheme = createCustomScheme({ verify, origin: () => ORIGIN });
    const bodyReservation = { mayWait: () => false };
    expect(await scheme.verify({ ...sent(BODY), bodyReservation })).toMatchObject({ kind: "failed" });
    expect(verify).toHaveBeenCalledOnce();
  });

  it("a repeated header is one text, so that none of its values is taken alone", async () => {
    const seen: unknown[] = [];
    const verify: VerifyCallback = (_body, headers) => seen.push(headers["x-acme"]) > 0;
    await verdictOf(verify, { ...sent(BODY), headers: { "x-acme": ["a", "b"] } });
    expect(seen).toEqual(["a, b"]);
  });

  it("a source with a verify function of its own reads id, type and data as any other source", () => {
    expect(opened(source(() => true)).contract.read(sent(BODY))).toMatchObject({
      event: { json: { event_id: "evt-1", event_type: "order.placed", data: BODY } },
    });
  });

  it("the verify function gets the headers that `reads` names, and no other", async () => {
    const seen: unknown[] = [];
    const verify: VerifyCallback = (_body, headers) => seen.push({ ...headers }) > 0;
    const named = custom({
      verify,
      id: "body.id",
      type: "body.type",
      reads: ["header.X-Acme", "body.proof"],
    });
    const headers = { "x-acme": ["a"], "x-other": ["b"] };
    await opened(named).scheme.verify({ ...sent(BODY), headers });
    expect(seen).toEqual([{ "x-acme": "a" }]);
    expect(named.credentialPlaces).toMatchObject({ headers: ["X-Acme"], fields: ["proof"] });
  });

  it.each(["", undefined, [""], []])("the secret %j of a variable that is not set is refused", (secret) => {
    const options = { verify: () => true, id: "body.id", type: "body.type" };
    expect(() => custom({ ...options, secret } as Parameters<typeof custom>[0])).toThrow(
      /^custom: `secret`.*: got (?:none|an empty text), expected what the platform shows/,
    );
  });

  it("the secret is kept from logs", () => {
    const options = { verify: () => true, id: "body.id", type: "body.type" };
    expect(custom({ ...options, secret: ["a", undefined] }).secrets).toEqual(["a"]);
  });

  it("an option that is no function, unknown or missing is named", () => {
    const wrong = (options: object) => () => custom(options as Parameters<typeof custom>[0]);
    const right = { verify: () => true, id: "body.id", type: "body.type" };
    expect(wrong({ ...right, reads: ["X-Acme"] })).toThrow(/^custom: `reads`: got "X-Acme", expected places such as/);
    expect(wrong({ ...right, verify: "sha256" })).toThrow(/custom: `verify`: got string, expected a function/);
    expect(wrong({ ...right, verfy: 1 })).toThrow(/custom: `verfy`: no such option; did you mean verify\?/);
    expect(wrong({ ...right, id: undefined })).toThrow(/custom: `id`: got none, expected where it stands/);
    expect(wrong({ ...right, type: [] })).toThrow(/custom: `type`: got \[\], expected where it stands/);
    expect(wrong({ ...right, id: "bodyid" })).toThrow(/custom: `id`: got "bodyid", expected a place such as body.id/);
  });
});
