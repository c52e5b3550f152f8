import { describe, expect, it } from "vitest";
import { BASE, KEY, problems } from "../support/configuration.ts";

describe("the configuration", () => {
  it.each([
    ["SIGNING_SECRET_PREVIOUS", BASE.SIGNING_SECRET, "SIGNING_SECRET"],
    ["CALLBACK_TOKEN", BASE.SIGNING_SECRET, "SIGNING_SECRET"],
    ["CALLBACK_TOKEN_PREVIOUS", `a-token-of-its-own,${BASE.SIGNING_SECRET}`, "SIGNING_SECRET"],
    ["CALLBACK_TOKEN_PREVIOUS", BASE.ADMIN_TOKEN, "ADMIN_TOKEN"],
    ["JWT_SECRET", KEY, "ENCRYPTION_KEY"],
    ["JWT_SECRET_PREVIOUS", KEY, "ENCRYPTION_KEY"],
    ["JWT_SECRET_PREVIOUS", Buffer.from(KEY, "base64").toString("hex"), "ENCRYPTION_KEY"],
    ["ENCRYPTION_KEY_PREVIOUS", Buffer.from(KEY, "base64").toString("hex"), "ENCRYPTION_KEY"],
    ["OAUTH_CLIENT_SECRET", BASE.ADMIN_TOKEN, "ADMIN_TOKEN"],
    ["NOTIFY_WEBHOOK_SECRET", `whsec_${KEY}`, "ENCRYPTION_KEY"],
    ["SMTP_URL", `smtps://us:${BASE.ADMIN_TOKEN}@mail.example`, "ADMIN_TOKEN"],
  ])("%s needs a secret of its own", (name, value, other) => {
    const found = problems({ ...BASE, [name]: value });
    const problem = found.find((one) => one.includes(" is the same as "));
    expect(problem).toMatch(/^\w+: is the same as \w+, expected a secret of its own$/);
    expect(problem).toContain(name);
    expect(problem).toContain(other);
    expect(problem).not.toContain(value);
  });

  it("a repeated previous token is refused, and a client secret that also signs is accepted", () => {
    const twice = "the-token-of-last-year,the-token-of-last-year";
    expect(problems({ ...BASE, CALLBACK_TOKEN_PREVIOUS: twice })).toEqual([
      "CALLBACK_TOKEN_PREVIOUS: holds the same secret twice",
    ]);
    const client = { OAUTH_CLIENT_ID: "us", OAUTH_TOKEN_URL: "https://platform.example/token" };
    expect(problems({ ...BASE, ...client, OAUTH_CLIENT_SECRET: BASE.SIGNING_SECRET })).toEqual([]);
  });
});
