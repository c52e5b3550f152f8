import { describe, expect, it } from "vitest";
import { OptionError } from "../../../src/sources/index.ts";
import * as presets from "../../../src/sources/platforms/index.ts";
import { FUNCTIONS_WITH_OPTIONS, moreThanSecret, PRESET_NAMES } from "../../../src/sources/platforms/names.ts";

const { PRESETS, defineSource: _none, ...exported } = { defineSource: undefined, ...presets };
const functions = Object.entries(exported).filter(([, one]) => typeof one === "function") as [
  string,
  (options?: unknown) => unknown,
][];

/** @throws Error where `make` throws no OptionError */
function errorOf(make: () => unknown): OptionError {
  try {
    make();
  } catch (error) {
    if (error instanceof OptionError) return error;
    throw error;
  }
  throw new Error("it threw nothing");
}
const messageOf = (make: () => unknown) => errorOf(make).message;

describe("the options of a preset", () => {
  it.each(functions)("%s refuses an option that it does not have, and names it", (_name, preset) => {
    expect(() => preset({ anser: "after" })).toThrow(/: `anser`: no such option; did you mean answer\?$/);
  });

  it.each(functions)("%s refuses a call without options", (_name, preset) => {
    for (const given of [undefined, "whsec_of_a_test", null])
      expect(() => preset(given)).toThrow(/: options: got .+, expected an object such as \{ \w+: … \}$/);
    expect(() => preset("whsec_of_a_test")).not.toThrow(/whsec_of/);
  });

  it("every preset is one that a secret is enough for, or is named with its function", () => {
    const names = functions.map(([name, preset]) => {
      const described = (preset as { describe?: () => { preset: string } }).describe?.().preset;
      const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      return [described ?? kebab, name] as const;
    });
    const others = names.filter(([name]) => !(PRESET_NAMES as readonly string[]).includes(name));
    expect(others.map(([, name]) => name).sort()).toEqual([...FUNCTIONS_WITH_OPTIONS]);
    for (const [described, name] of others) expect(moreThanSecret(described)).toContain(`import { ${name} } from`);
    expect(Object.keys(PRESETS)).toEqual([...PRESET_NAMES]);
  });

  it.each(["wechat-pay", "wechatPay"])(
    "a name that needs more than a secret is known in both spellings: %s",
    (name) => {
      expect(moreThanSecret(name)).toContain("import { wechatPay } from");
    },
  );
});

describe("a secret that cannot be the one that was meant", () => {
  const { stripe, github, standardWebhooks } = presets;

  it.each(["sk_live_1", "rk_test_1", "pk_live_1"])("an API key of Stripe is refused: %s", (secret) => {
    expect(() => stripe({ secret: ["whsec_right", secret] })).toThrow(
      "stripe: `secret` 2 of 2: got an API key, expected the endpoint's signing secret (whsec_…)",
    );
  });

  it.each([
    ["", "`secret`: got an empty text, expected what the platform shows"],
    ["a-secret\n", "`secret`: got a text with white space or a newline around it; remove it"],
    ['"a-secret"', "`secret`: got a text in quotation marks, which would be a part of it; remove them"],
    ["'a-secret'", "`secret`: got a text in quotation marks, which would be a part of it; remove them"],
  ])("the error names the preset and the cause, and not the secret: %j", (secret, cause) => {
    expect(messageOf(() => github({ secret }))).toBe(`github: ${cause}`);
    expect(messageOf(() => standardWebhooks({ secret }))).toBe(`standard-webhooks: ${cause}`);
  });

  it("the error of an option holds preset, option, place, got and expected, wherever it is found", () => {
    const { hmac, wechatPay } = presets;
    const own = { secret: "s", id: "body.id", type: "body.type", signed: "{body}" };
    const signature = { header: "X-Sign", encoding: "hex" } as const;
    // By the preset, by the scheme, by the contract.
    expect(errorOf(() => stripe({ secret: ["whsec_right", "sk_live_1"] }))).toMatchObject({
      ...{ preset: "stripe", option: "secret", place: { index: 1, of: 2 }, got: "an API key" },
      expected: "the endpoint's signing secret (whsec_…)",
    });
    expect(errorOf(() => wechatPay({ secret: "k".repeat(32), keys: { K: "" } }))).toMatchObject({
      ...{ preset: "wechat-pay", option: "keys.K" },
    });
    expect(errorOf(() => hmac({ ...own, signature, id: "bodyid" }))).toMatchObject({
      ...{ preset: "hmac", option: "id", got: '"bodyid"' },
      expected: "a place such as body.id, item.id, header.X-Id, query.id or sha256",
    });
  });
});
