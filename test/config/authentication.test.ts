import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import { BASE, JWT, PRODUCTION, problems } from "../support/configuration.ts";

describe("AUTH_METHOD", () => {
  it("AUTH_METHOD combines methods: any of several, and all of each", () => {
    const { methods, jwt, token } = loadConfig({
      ...BASE,
      ...JWT,
      AUTH_METHOD: "hmac+token, jwt",
      CALLBACK_TOKEN: "the-token-of-this-year",
      CALLBACK_TOKEN_PREVIOUS: "the-token-of-last-year,the-token-before-that",
    }).authentication;
    expect(methods).toEqual([["hmac", "token"], ["jwt"]]);
    expect(jwt).toMatchObject({ algorithm: "HS256", header: "Authorization", bodyClaim: null });
    expect(token.tokens).toEqual(["the-token-of-this-year", "the-token-of-last-year", "the-token-before-that"]);
  });

  it.each([
    ["hmac,hmac+token", "hmac is enough by itself, so hmac+token asks for nothing"],
    ["hmac+token,token", "token is enough by itself, so hmac+token asks for nothing"],
    ["hmac+token,token+hmac", "hmac+token is enough by itself, so token+hmac asks for nothing"],
    ["hmac,hmac", "hmac is enough by itself, so hmac asks for nothing"],
  ])("AUTH_METHOD refuses a combination that contains another one: %s", (AUTH_METHOD, says) => {
    expect(problems({ ...BASE, AUTH_METHOD, CALLBACK_TOKEN: "the-token-of-this-year" })).toEqual([
      `AUTH_METHOD: got "${AUTH_METHOD}", expected no choice that holds another one: ${says}`,
    ]);
  });

  it("AUTH_METHOD needs two headers for token+jwt, and one for token,jwt", () => {
    const env = { ...BASE, ...JWT, CALLBACK_TOKEN: "the-token-of-this-year" };
    const same = { ...env, CALLBACK_TOKEN_HEADER: "authorization" };
    expect(problems({ ...same, AUTH_METHOD: "token+jwt" })).toEqual([
      'CALLBACK_TOKEN_HEADER, JWT_HEADER: got "authorization" for both, expected two: one header carries one token, and AUTH_METHOD asks for both',
    ]);
    expect(problems({ ...same, AUTH_METHOD: "token,jwt" })).toEqual([]);
    expect(problems({ ...env, AUTH_METHOD: "hmac+token+jwt" })).toEqual([]);
  });

  it.each(["Host", "content-length", "X-Signature", "x-event-type", "X-Forwarded-For", "Cookie"])(
    "a credential's header cannot be one with another meaning: %s",
    (header) => {
      for (const name of ["CALLBACK_TOKEN_HEADER", "JWT_HEADER"])
        expect(problems({ ...BASE, [name]: header })).toEqual([
          `${name}: got "${header}", expected a header's name that means nothing else, as Host or X-Signature do`,
        ]);
    },
  );

  it.each(["JWT_ISSUER", "JWT_AUDIENCE"])("%s refuses white space, alone and around its value", (name) => {
    for (const value of [" ", "https://platform.example\n"])
      expect(problems({ ...BASE, ...JWT, [name]: value })).toEqual([
        expect.stringMatching(/^\w+: got ".*", expected the claim \w+, without white space around it$/),
      ]);
  });

  it("everything that a JWT needs is requested at once", () => {
    expect(problems({ ...BASE, AUTH_METHOD: "jwt" })).toEqual([
      "JWT_ALGORITHM: is not set, expected with AUTH_METHOD=jwt",
      "JWT_ISSUER: is not set, expected with AUTH_METHOD=jwt",
      "JWT_AUDIENCE: is not set, expected with AUTH_METHOD=jwt",
      "JWT_SECRET, JWT_PUBLIC_KEY_FILE, JWT_JWKS_URL: none is set, expected one with AUTH_METHOD=jwt: " +
        "JWT_SECRET for HS256, one of the others for all other algorithms",
    ]);
  });

  it("the secret of an unused method is not required", () => {
    const { SIGNING_SECRET: _unused, ...others } = PRODUCTION;
    expect(problems({ ...others, ...JWT })).toEqual([]);
    expect(problems(others)).toEqual([
      expect.stringMatching(
        /^SIGNING_SECRET: is not set; in production the built-in protocol \(`platform`\) needs the secret that its sender shares, or /,
      ),
    ]);
  });
});
