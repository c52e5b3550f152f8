import { describe, expect, it } from "vitest";
import * as presets from "../../../src/sources/platforms/index.ts";
import {
  FUNCTIONS_WITH_OPTIONS,
  moreThanSecret,
  PRESET_NAMES,
} from "../../../src/sources/platforms/names.ts";

const { PRESETS, defineSource: _none, ...exported } = { defineSource: undefined, ...presets };
const functions = Object.entries(exported).filter(([, one]) => typeof one === "function") as [
  string,
  (options?: unknown) => unknown,
][];

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
    for (const [described, name] of others)
      expect(moreThanSecret(described)).toContain(`import { ${name} } from`);
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
    ["", "secret: got an empty text, expected what the platform shows"],
    ["a-secret\n", "secret: got a text with white space or a newline around it; remove it"],
    ['"a-secret"', "`secret`: got a text in quotation marks, which would be a part of it; remove them"],
    ["'a-secret'", "`secret`: got a text in quotation marks, which would be a part of it; remove them"],
  ])("the error names the preset and the cause, and not the secret: %j", (secret, cause) => {
    expect(() => github({ secret })).toThrow(new TypeError(`github: ${cause}`));
    expect(() => standardWebhooks({ secret })).toThrow(new TypeError(`standard-webhooks: ${cause}`));
  });
});
