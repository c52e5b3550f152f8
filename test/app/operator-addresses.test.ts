import { describe, expect, it } from "vitest";
import { adminAccess } from "../../src/app/admin-access.ts";
import { createEncryptor } from "../../src/system/encryption.ts";
import { systemClock } from "../../src/system/index.ts";
import { testConfig } from "../support/receiver.ts";

const OPERATORS = ["ada@Example.com", "kim@bank.example", "ben@b\u00fccher.example", "g\u00fcnter@example.com"];

const provider = adminAccess(
  testConfig(
    { dialect: "sqlite", url: "sqlite:./none.db" },
    {
      ADMIN_BASE_URL: "https://admin.example.com",
      ADMIN_OIDC_ISSUER: "https://provider.example.com",
      ADMIN_OIDC_CLIENT_ID: "us",
      ADMIN_OIDC_CLIENT_SECRET: "the-client-secret-of-ours",
      ADMIN_OIDC_OPERATORS: OPERATORS.join(","),
    },
  ),
  createEncryptor(Buffer.alloc(32, 1)),
  systemClock,
).provider;
const roleOf = (email: string) => provider?.roleOf({ subject: "x", email, values: [email] });

describe("the mail address of an operator", () => {
  it.each([
    "ada@example.com",
    "ADA@EXAMPLE.COM",
    "Kim@BANK.example",
    "ben@xn--bcher-kva.example",
    "BEN@B\u00fccher.EXAMPLE",
  ])("an address matches in any case of ASCII letters, with its domain in Unicode or punycode: %s", (email) =>
    expect(roleOf(email)).toBe("operator"),
  );

  it.each([
    ["the Kelvin sign for k", "\u212aim@bank.example"],
    ["the Kelvin sign in the domain", "kim@ban\u212a.example"],
    ["full-width letters", "\uff41da@example.com"],
    ["full-width letters in the domain", "ada@\uff45xample.com"],
    ["an ideographic full stop", "ada@example\u3002com"],
    ["a soft hyphen in the domain", "ada@exam\u00adple.com"],
    ["upper-case \u00dc in the local part", "G\u00dcNTER@example.com"],
    ["another domain behind a second @", "ada@example.com@evil.example"],
    ["a long s in the domain", "ada@example.co\u017f"],
    ["an empty domain", "ada@"],
  ])("a look-alike address does not match: %s", (_, email) => expect(roleOf(email)).toBeUndefined());
});
