import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/domain/index.ts";
import { allOf, anyOf, createHmacScheme, createTokenScheme, signHmac } from "../../src/verify/index.ts";

const SECRET = "a-signing-secret-of-some-length";
const TOKEN = "the-callback-token-of-now";
const OLD = "the-callback-token-of-before";
const BODY = Buffer.from("{}");
const hmac = createHmacScheme({ secrets: [SECRET], toleranceSeconds: null, clock: systemClock });
const token = createTokenScheme({ tokens: [TOKEN, OLD], header: "X-Callback-Token" });
const SIGNED = { "x-signature": [signHmac(SECRET, BODY)] };
const NAMED = { "x-callback-token": [TOKEN] };

describe("a token", () => {
  const verify = (...values: string[]) =>
    token.verify({ body: BODY, headers: { "x-callback-token": values } });

  it.each([
    [TOKEN, "current"],
    [OLD, "previous"],
  ])("is accepted while it is configured: %s", (value, secret) => {
    expect(verify(value)).toEqual({ verified: [{ method: "token", secret }] });
  });

  it.each([
    ["token_missing", []],
    ["token_missing", [""]],
    ["token_repeated", [TOKEN, TOKEN]],
    ["token_mismatch", [TOKEN.slice(0, -1)]],
    ["token_mismatch", [`${TOKEN} `]],
    ["token_mismatch", [TOKEN.toUpperCase()]],
    ["token_mismatch", [`${TOKEN},${OLD}`]],
  ])("is refused with one message for all causes: %s", (code, values) => {
    expect(verify(...values)).toEqual({ ending: "refused", code, message: "invalid token" });
  });

  it("in `Authorization` is a bearer token", () => {
    const bearer = createTokenScheme({ tokens: [TOKEN], header: "Authorization" });
    const under = (value: string) => bearer.verify({ body: BODY, headers: { authorization: [value] } });
    expect(under(`bearer ${TOKEN}`)).toHaveProperty("verified");
    expect(under(TOKEN)).toMatchObject({ code: "token_missing" });
    expect(bearer.challenge).toBe('Bearer realm="callbacks"');
  });
});

describe("two schemes", () => {
  const all = allOf([hmac, token]);
  const any = anyOf([hmac, token]);

  it("must both accept where all are asked for", async () => {
    expect(await all.verify({ body: BODY, headers: { ...SIGNED, ...NAMED } })).toEqual({
      verified: [
        { method: "hmac", secret: "current" },
        { method: "token", secret: "current" },
      ],
    });
    expect(await all.verify({ body: BODY, headers: SIGNED })).toMatchObject({ code: "token_missing" });
    expect(await all.verify({ body: BODY, headers: NAMED })).toMatchObject({ code: "signature_missing" });
  });

  it("need not both accept where one is enough", async () => {
    expect(await any.verify({ body: BODY, headers: SIGNED })).toHaveProperty("verified");
    expect(await any.verify({ body: BODY, headers: NAMED })).toHaveProperty("verified");
    expect(await any.verify({ body: BODY, headers: {} })).toMatchObject({ ending: "refused" });
  });

  it("refuse for the reason of the credential that was there", async () => {
    expect(await any.verify({ body: BODY, headers: { "x-callback-token": ["wrong"] } })).toMatchObject({
      code: "token_mismatch",
    });
  });

  it("name both ways in their challenge", () => {
    expect(any.challenge).toBe(
      'Signature realm="callbacks", algorithm="hmac-sha256", Token realm="callbacks", header="X-Callback-Token"',
    );
  });
});
