import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { afterAll, describe, expect, it, vi } from "vitest";
import { refused } from "../../../src/domain/index.ts";
import { createDiagnosis } from "../../../src/sources/index.ts";
import type { HmacData } from "../../../src/sources/schemes/hmac-data.ts";
import { signHmacRequest } from "../../../src/sources/schemes/sign-hmac.ts";

const digests = vi.spyOn(crypto, "createHmac");
syncBuiltinESMExports();
afterAll(() => {
  digests.mockRestore();
  syncBuiltinESMExports();
});

const NOW = new Date("2026-01-01T00:00:00.000Z");
const SECRET = "the-secret-of-this-source";
const data: HmacData = {
  signature: { header: "X-Acme-Signature", encoding: "hex" },
  signed: "{timestamp}.{body}",
  timestamp: { header: "X-Acme-Time", unit: "seconds", toleranceSeconds: 300 },
};
const body = Buffer.from('{"id":1,"amount":12.50}');

function diagnosisWith(hmac: HmacData | undefined, { secrets = [SECRET], named = 0, isOwn = false, others = 0 } = {}) {
  return createDiagnosis({
    name: "acme",
    title: "Acme",
    isOwn,
    otherSources: Array.from({ length: others }, (_, at) => ({
      name: `acme-${at}`,
      secret: `other-secret-${at}`,
    })),
    hmac,
    secrets: () => secrets,
    secretName: (index) => `acme, secret ${index + 1}`,
    named: Array.from({ length: named }, (_, at) => ({ name: `test-${at}`, secret: `named-secret-${at}` })),
    origin: () => "https://hooks.example.com",
  });
}

function signed(secret: string, over: Uint8Array = body) {
  const headers = signHmacRequest(data, { secret, body: over, now: NOW });
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]));
}

const request = (headers: Record<string, string[]>, sent: Uint8Array = body) => ({
  method: "POST",
  target: "/api/acme/callback",
  headers,
  body: sent,
});
const mismatch = refused("signature_mismatch");

describe("the diagnosis of a source's signature", () => {
  it("a secret of DIAGNOSE_SECRETS_FILE is recognized, and named", () => {
    const diagnose = diagnosisWith(data, { named: 3 });
    expect(diagnose(mismatch, request(signed("named-secret-2")))).toMatchObject({
      code: "other_environment",
      confirmed: true,
      message: "The signature was made with the secret `test-2` of DIAGNOSE_SECRETS_FILE.",
      remedy: "At Acme, give each environment an address and a secret of its own.",
    });
  });

  it("a secret of another source of the same platform is recognized, up to the sixteenth", () => {
    const diagnose = diagnosisWith(data, { others: 20 });
    expect(diagnose(mismatch, request(signed("other-secret-15")))).toMatchObject({
      code: "other_environment",
      confirmed: true,
      message: "The signature was made with the secret of source acme-15: are the addresses swapped?",
      remedy: expect.stringContaining("At Acme, compare the addresses of both sources"),
    });
    expect(diagnose(mismatch, request(signed("other-secret-16")))).toMatchObject({ confirmed: false });
  });

  it("a prefix that a source of one's own does not expect is named as its option, beside a correct digest", () => {
    const right = signed(SECRET);
    const [digest = ""] = right["x-acme-signature"] ?? [];
    const prefixed = request({ ...right, "x-acme-signature": [`sha256=${digest}`] });
    expect(diagnosisWith(data, { isOwn: true })(mismatch, prefixed)).toEqual({
      code: "prefix",
      confirmed: true,
      message: "`sha256=` precedes the signature. The digest itself is correct.",
      remedy: 'Set `prefix: "sha256="` in the `signature` of source acme.',
    });
    const upper = request({ ...right, "x-acme-signature": [digest.toUpperCase()] });
    expect(diagnosisWith(data, { isOwn: true })(mismatch, upper)).toMatchObject({
      code: "encoding",
      message: expect.stringContaining("The digest itself is correct."),
      remedy: "Set `encoding` in the `signature` of source acme to that of its sender.",
    });
  });

  it("content with a placeholder of the preset's own is recognized", () => {
    const own: HmacData = { ...data, signed: "{shop}.{body}", parts: { shop: () => "acme-1" } };
    const headers = signHmacRequest(own, { secret: "named-secret-2", body, now: NOW });
    const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]);
    expect(diagnosisWith(own, { named: 3 })(mismatch, request(Object.fromEntries(given)))).toMatchObject({
      code: "other_environment",
    });
  });

  it("content that is joined in another way is recognized", () => {
    const alone = { ...data, signed: "{body}" };
    const headers = signHmacRequest(alone, { secret: SECRET, body, now: NOW });
    const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]));
    expect(diagnosisWith(data)(mismatch, request(given))).toMatchObject({
      code: "other_content",
      message: "The signature covers the body alone.",
      remedy: expect.stringContaining("Acme signs {timestamp}.{body}"),
    });
  });

  it.each([
    ["SHA-1", { ...data, algorithm: "sha1" } as const],
    ["SHA-512", { ...data, algorithm: "sha512" } as const],
    ["base64", { ...data, signature: { ...data.signature, encoding: "base64" } } as const],
  ])("a body that was cut is noticed with a signature in %s", (_name, own: HmacData) => {
    const headers = signHmacRequest(own, { secret: SECRET, body, now: NOW });
    const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]));
    expect(diagnosisWith(own)(mismatch, request(given, body.subarray(0, 12)))).toMatchObject({
      code: "truncated",
      confirmed: false,
    });
  });

  it("a diagnosis costs at most 76 digests, and of a long body one for each secret", () => {
    const secrets = Array.from({ length: 16 }, (_, at) => `secret-number-${at}`);
    const diagnose = diagnosisWith(data, { secrets, named: 16 });
    const short = request(signed("nobody's"));
    digests.mockClear();
    diagnose(mismatch, short);
    expect(digests.mock.calls.length).toBeGreaterThan(60);
    expect(digests.mock.calls.length).toBeLessThanOrEqual(76);
    const body = Buffer.alloc(70_000, "x");
    const long = request(signed("nobody's", body), body);
    digests.mockClear();
    diagnose(mismatch, long);
    expect(digests).toHaveBeenCalledTimes(32);
  });

  it("a request without a signature costs no digest", () => {
    digests.mockClear();
    const found = diagnosisWith(data)(refused("signature_missing"), request({}));
    expect(found).toMatchObject({ code: "missing", message: "The request has no `X-Acme-Signature`." });
    expect(digests).not.toHaveBeenCalled();
  });
});

describe("the diagnosis of a source that signs otherwise", () => {
  it("the diagnosis of a source that signs otherwise has the words of its scheme, and remedies without variables of the specification's platform", () => {
    const diagnose = diagnosisWith(undefined);
    const refusal = { ...refused("signature_mismatch"), detail: "X-Acme-Ed25519: made with another key" };
    const found = diagnose(refusal, request({}));
    expect(found).toMatchObject({
      code: "unknown",
      confirmed: false,
      message: "Acme was not recognized: X-Acme-Ed25519: made with another key.",
    });
    expect(found?.remedy).not.toMatch(/SIGNING_SECRET|X-Signature/);
  });

  it("the diagnosis of a source that signs otherwise says nothing of refusals that are no matter of authenticity", () => {
    expect(diagnosisWith(undefined)(refused("body_too_large"), request({}))).toBeUndefined();
  });
});
