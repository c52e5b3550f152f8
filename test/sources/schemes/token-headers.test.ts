import { describe, expect, it } from "vitest";
import { createTokenScheme } from "../../../src/sources/index.ts";
import { createBasicScheme } from "../../../src/sources/schemes/token.ts";
import { POSTED } from "../../support/posted.ts";

const PAIRS = [
  { user: "hook", password: "für Zoë: now" },
  { user: "hook", password: "before" },
];
const basic = createBasicScheme(PAIRS);
const encoded = (text: string) => Buffer.from(text).toString("base64");
const sent = (...authorization: string[]) => ({ ...POSTED, body: Buffer.of(), headers: { authorization } });

describe("basic authentication", () => {
  it.each([
    [0, `Basic ${encoded("hook:für Zoë: now")}`],
    [1, `basic ${encoded("hook:before")}`],
  ])("the pair at place %i is accepted", (index, value) => {
    expect(basic.verify(sent(value))).toMatchObject({ verified: [{ method: "token", index }] });
  });

  it.each([
    [[], "token_missing"],
    [["Bearer before"], "token_missing"],
    [[encoded("hook:before")], "token_missing"],
    [[`Basic ${encoded("hook:before").replace(/=+$/, "")}`], "token_missing"],
    [[`Basic ${Buffer.from("hook:\xff", "latin1").toString("base64")}`], "token_missing"],
    [[`Basic ${encoded("hook:wrong")}`], "token_mismatch"],
    [[`Basic ${encoded("other:before")}`], "token_mismatch"],
    [[`Basic ${encoded("hook:before")}`, `Basic ${encoded("hook:before")}`], "token_repeated"],
  ])("basic authentication of %j is refused as %s", (values, code) => {
    expect(basic.verify(sent(...values))).toMatchObject({ kind: "refused", code });
  });

  it.each([
    [{ user: "a:b", password: "c" }, "`user`: got a text with a colon"],
    [{ user: "a", password: "" }, "`secret`: got an empty text, expected what the platform shows"],
  ])("basic authentication with %j is no scheme", (pair, message) => {
    expect(() => createBasicScheme([pair])).toThrow(message);
  });

  it("a 401 asks for it in UTF-8", () => {
    expect(basic.challenge).toBe('Basic realm="callbacks", charset="UTF-8"');
  });
});

describe("a token after a prefix", () => {
  const verify = (prefix: string, value: string) =>
    createTokenScheme({ tokens: ["the-token"], header: "Authorization", prefix }).verify(sent(value));

  it.each([
    ["", "the-token"],
    ["Token ", "Token the-token"],
  ])("a token after %j is accepted", (prefix, value) => {
    expect(verify(prefix, value)).toMatchObject({ verified: [{ method: "token", index: 0 }] });
  });

  it.each([
    ["", "Bearer the-token", "token_mismatch"],
    ["Token ", "the-token", "token_missing"],
    ["Token ", "token the-token", "token_missing"],
    ["Token ", "Token ", "token_missing"],
  ])("a token scheme with the prefix %j does not accept %j", (prefix, value, code) => {
    expect(verify(prefix, value)).toMatchObject({ kind: "refused", code });
  });

  it("a token with a newline at its end is no token", () => {
    expect(() => createTokenScheme({ tokens: ["a\n"], header: "X-Token" })).toThrow(TypeError);
  });
});
