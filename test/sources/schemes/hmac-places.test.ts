import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createHmacScheme } from "../../../src/sources/index.ts";
import type { HmacData } from "../../../src/sources/schemes/hmac-data.ts";
import { signHmacRequest } from "../../../src/sources/schemes/sign-hmac.ts";

const NOW = new Date("2026-06-15T12:00:00Z");
const SECONDS = String(NOW.getTime() / 1000);
const BODY = Buffer.from('{"a":1}');
const SECRET = "a secret of this test";
const mac = (text: string, key = SECRET) => createHmac("sha256", key).update(text).digest("hex");

function verify(data: HmacData, headers: Record<string, string[]>, secrets: string[] = [SECRET]) {
  const scheme = createHmacScheme(data, { secrets, clock: { now: () => NOW } });
  return scheme.verify({ method: "POST", target: "/hook", headers, body: BODY });
}

describe("a timestamp in one of several headers", () => {
  const DATA: HmacData = {
    signature: { header: "X-Signature", encoding: "hex" },
    signed: "{timestamp}.{body}",
    timestamp: { header: ["X-New-Time", "X-Time"], unit: "seconds", toleranceSeconds: 300 },
  };
  const signature = { "x-signature": [mac(`${SECONDS}.{"a":1}`)] };

  it.each(["x-new-time", "x-time"])("a timestamp is read from %s", (name) => {
    expect(verify(DATA, { ...signature, [name]: [SECONDS] })).toHaveProperty("verified");
  });

  it("a timestamp in one of several headers is the first of them that is not empty", () => {
    const headers = { ...signature, "x-new-time": [""], "x-time": [SECONDS] };
    expect(verify(DATA, headers)).toHaveProperty("verified");
    expect(verify(DATA, { ...signature, "x-new-time": ["1"], "x-time": [SECONDS] })).toMatchObject({
      code: "signature_mismatch",
    });
  });

  it("a timestamp in one of several headers is refused where it stands twice, and where it stands in none, with all their names", () => {
    expect(verify(DATA, { ...signature, "x-new-time": ["", SECONDS] })).toMatchObject({
      code: "timestamp_missing",
      detail: "`X-New-Time`: stands 2 times, expected once",
    });
    expect(verify(DATA, signature)).toMatchObject({
      code: "timestamp_missing",
      detail: expect.stringContaining("`X-New-Time` or `X-Time`: missing"),
    });
  });

  it("a timestamp in one of several headers is sent in the first of them", () => {
    expect(signHmacRequest(DATA, { secret: SECRET, body: BODY, now: NOW })).toEqual({
      "X-Signature": mac(`${SECONDS}.{"a":1}`),
      "X-New-Time": SECONDS,
    });
  });
});

describe("a header of fields", () => {
  it("a header of fields may have a space after each separator", () => {
    const fields = { separator: ",", assignment: "=", value: "v1", timestamp: "t" };
    const data: HmacData = {
      signature: { header: "X-Signature", encoding: "hex", fields },
      signed: "{timestamp}.{body}",
      timestamp: { unit: "seconds", toleranceSeconds: 300 },
    };
    const value = `t=${SECONDS}, v1=${mac(`${SECONDS}.{"a":1}`)}`;
    expect(verify(data, { "x-signature": [value] })).toHaveProperty("verified");
  });
});

describe("a secret that may be one of several keys", () => {
  const DATA: HmacData = {
    key: (secret) => (secret === "no secret" ? undefined : [Buffer.from(secret), Buffer.from(`${secret}!`)]),
    signature: { header: "X-Signature", encoding: "hex" },
    signed: "{body}",
  };

  it.each([
    ["old", 1],
    ["old!", 1],
    ["new!", 0],
  ])("the key %j is of the secret at place %i", (key, index) => {
    expect(verify(DATA, { "x-signature": [mac('{"a":1}', key)] }, ["new", "old"])).toMatchObject({
      verified: [{ index }],
    });
  });

  it("the first key signs", () => {
    expect(signHmacRequest(DATA, { secret: "new", body: BODY, now: NOW })["X-Signature"]).toBe(mac('{"a":1}', "new"));
  });

  it("a text that gives no key is refused at the start", () => {
    expect(() => verify(DATA, {}, ["new", "no secret"])).toThrow("`secret` 2 of 2");
  });
});

describe("a placeholder of the platform's own", () => {
  const DATA: HmacData = {
    signature: { header: "X-Signature", encoding: "hex" },
    signed: "{shop}:{body}",
    parts: { shop: ({ headers }) => headers["x-shop"]?.[0] },
  };
  const headers = { "x-signature": [mac('berlin:{"a":1}')] };

  it("a placeholder of the platform's own is signed with the rest", () => {
    expect(verify(DATA, { ...headers, "x-shop": ["berlin"] })).toHaveProperty("verified");
    expect(verify(DATA, { ...headers, "x-shop": ["paris"] })).toMatchObject({ code: "signature_mismatch" });
  });

  it("a placeholder of the platform's own refuses a request that lacks it", () => {
    expect(verify(DATA, headers)).toMatchObject({
      code: "signature_malformed",
      detail: expect.stringContaining("`shop`: missing"),
    });
  });

  it("a placeholder of the platform's own is unknown without its part", () => {
    expect(() => verify({ ...DATA, parts: {} }, headers)).toThrow("got {shop}");
  });
});
