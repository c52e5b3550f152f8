import { describe, expect, it } from "vitest";
import {
  allOf,
  anyOf,
  createHmacScheme,
  createJwtScheme,
  createTokenScheme,
  isCredentialMissing,
  type JwtKeys,
  jwksKeys,
  platformHmac,
  type SignedRequest,
  signHmac,
} from "../../../src/sources/index.ts";
import { systemClock } from "../../../src/system/index.ts";
import { POSTED } from "../../support/posted.ts";

const SECRET = "a-signing-secret-of-some-length";
const TOKEN = "the-callback-token-of-now";
const OLD = "the-callback-token-of-before";
const BODY = Buffer.from("{}");
const hmac = createHmacScheme(platformHmac(null), { secrets: [SECRET], clock: systemClock });
const token = createTokenScheme({ tokens: [TOKEN, OLD], header: "X-Callback-Token" });
const jwtWith = (keys: JwtKeys) =>
  createJwtScheme({
    algorithm: "ES256",
    keys,
    header: "Authorization",
    issuer: "i",
    audience: "a",
    clockToleranceSeconds: 0,
    bodyClaim: null,
    clock: systemClock,
  });
const SIGNED = { "x-signature": [signHmac(SECRET, BODY)] };
const NAMED = { "x-callback-token": [TOKEN] };

describe("a token", () => {
  const verify = (...values: string[]) =>
    token.verify({ ...POSTED, body: BODY, headers: { "x-callback-token": values } });

  it.each([
    [TOKEN, 0],
    [OLD, 1],
  ])("a configured token is accepted: %s", (value, index) => {
    expect(verify(value)).toMatchObject({ verified: [{ method: "token", index }] });
  });

  it.each([
    ["token_missing", []],
    ["token_missing", [""]],
    ["token_repeated", [TOKEN, TOKEN]],
    ["token_mismatch", [TOKEN.slice(0, -1)]],
    ["token_mismatch", [`${TOKEN} `]],
    ["token_mismatch", [TOKEN.toUpperCase()]],
    ["token_mismatch", [`${TOKEN},${OLD}`]],
  ])("a wrong token is refused with one message for all causes: %s", (code, values) => {
    expect(verify(...values)).toMatchObject({ kind: "refused", code, message: "invalid token" });
  });

  it("a token in `Authorization` is a bearer token", () => {
    const bearer = createTokenScheme({ tokens: [TOKEN], header: "Authorization" });
    const under = (value: string) => bearer.verify({ ...POSTED, body: BODY, headers: { authorization: [value] } });
    expect(under(`bearer ${TOKEN}`)).toHaveProperty("verified");
    expect(under(TOKEN)).toMatchObject({ code: "token_missing" });
    expect(bearer.challenge).toBe('Bearer realm="callbacks"');
  });
});

describe("two schemes", () => {
  const all = allOf([hmac, token]);
  const any = anyOf([hmac, token]);

  it("two schemes must both accept where all are asked for", async () => {
    expect(await all.verify({ ...POSTED, body: BODY, headers: { ...SIGNED, ...NAMED } })).toEqual({
      verified: [
        { method: "hmac", index: 0 },
        { method: "token", index: 0 },
      ],
    });
    expect(await all.verify({ ...POSTED, body: BODY, headers: SIGNED })).toMatchObject({
      code: "token_missing",
    });
    expect(await all.verify({ ...POSTED, body: BODY, headers: NAMED })).toMatchObject({
      code: "signature_missing",
    });
  });

  it("two schemes need not both accept where one is enough", async () => {
    expect(await any.verify({ ...POSTED, body: BODY, headers: SIGNED })).toHaveProperty("verified");
    expect(await any.verify({ ...POSTED, body: BODY, headers: NAMED })).toHaveProperty("verified");
    expect(await any.verify({ ...POSTED, body: BODY, headers: {} })).toMatchObject({ kind: "refused" });
  });

  it("two schemes refuse for the reason of the credential that was there", async () => {
    expect(await any.verify({ ...POSTED, body: BODY, headers: { "x-callback-token": ["wrong"] } })).toMatchObject({
      code: "token_mismatch",
    });
  });

  it("two schemes refuse for the time of a signature that was there, rather than for a token that was not", async () => {
    const timed = createHmacScheme(platformHmac(60), { secrets: [SECRET], clock: systemClock });
    const verdict = await anyOf([token, timed]).verify({ ...POSTED, body: BODY, headers: SIGNED });
    expect(verdict).toMatchObject({ code: "timestamp_missing" });
    expect(isCredentialMissing(verdict)).toBe(false);
  });

  it.each([
    ["nothing at all", {}, true, true],
    ["one that is right", SIGNED, false, false],
    ["one that is wrong", { "x-signature": ["0".repeat(64)] }, false, false],
  ])("two schemes say whether a credential was there: %s", async (_title, headers, inAny, inAll) => {
    const request: SignedRequest = { ...POSTED, body: BODY, headers };
    expect(isCredentialMissing(await any.verify(request))).toBe(inAny);
    expect(isCredentialMissing(await all.verify(request))).toBe(inAll);
  });

  it.each([[["jwt", "hmac"]], [["hmac", "jwt"]]])(
    "two schemes look for a JWT's keys only when all else fits, in whatever order they stand: %j",
    async (order) => {
      let looked = 0;
      const keys: JwtKeys = {
        candidates: async () => {
          looked += 1;
          return [];
        },
        refreshed: async () => [],
      };
      const jwt = jwtWith(keys);
      const both = allOf(order.map((name) => (name === "jwt" ? jwt : hmac)));
      const header = Buffer.from('{"alg":"ES256"}').toString("base64url");
      const authorization = [`Bearer ${header}.e30.AAAA`];
      const forged = { authorization, "x-signature": ["0".repeat(64)] };
      expect(await both.verify({ ...POSTED, body: BODY, headers: forged })).toMatchObject({
        code: "signature_mismatch",
      });
      expect(looked).toBe(0);
      await both.verify({ ...POSTED, body: BODY, headers: { ...SIGNED, authorization } });
      expect(looked).toBe(1);
    },
  );

  it.each([[["token", "jwt"]], [["jwt", "token"]]])(
    "two schemes are undecided where one refuses and the other's keys cannot be fetched: %j",
    async (order) => {
      // The discard port, where nothing listens.
      const jwt = jwtWith(jwksKeys("http://127.0.0.1:9/jwks"));
      const either = anyOf(order.map((name) => (name === "jwt" ? jwt : token)));
      const header = Buffer.from('{"alg":"ES256"}').toString("base64url");
      const headers = { authorization: [`Bearer ${header}.e30.AAAA`], "x-callback-token": ["wrong"] };
      expect(await either.verify({ ...POSTED, body: BODY, headers })).toMatchObject({
        kind: "failed",
        code: "keys_unavailable",
      });
    },
  );

  it("two schemes name both ways in their challenge", () => {
    expect(any.challenge).toBe(
      'Signature realm="callbacks", algorithm="hmac-sha256", header="X-Signature", Token realm="callbacks", header="X-Callback-Token"',
    );
  });
});
