import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import { checkSources } from "../../src/doctor/check-sources.ts";
import { github, stripe } from "../../src/sources/platforms/index.ts";
import { BASE } from "../support/configuration.ts";

const RATE_OFF = { RATE_LIMIT_CALLBACK: "off" };
const ENV = { ...BASE, CALLBACK_BASE_URL: "https://a.example/base", MAX_UNVERIFIED_BYTES: "67108864" };
const check = (env: Record<string, string>, sources: Record<string, ReturnType<typeof stripe>> = {}) =>
  checkSources(loadConfig({ ...ENV, ...env }, { sources }), []);

describe("oncehook doctor on sources", () => {
  it("the doctor lists the address, the preset, the secrets and the answer of each source", async () => {
    const env = { ...RATE_OFF, SOURCES: "stripe", STRIPE_SECRET: "one", STRIPE_SECRET_PREVIOUS: "two" };
    const code = github({ secret: "one", path: "/hooks/code", answer: "after" });
    expect(await check(env, { code })).toEqual([
      {
        level: "ok",
        check: "sources",
        message:
          "code: https://a.example/base/hooks/code, preset github, 1 secret, answer after, " +
          "key: id, not signed: someone who captured a callback could run it again under another id",
      },
      {
        level: "ok",
        check: "sources",
        message:
          "stripe: https://a.example/base/api/stripe/callback, preset stripe, STRIPE_SECRET and STRIPE_SECRET_PREVIOUS, " +
          "answer within 6667 ms, key: signed id: a callback that is sent again, or captured, is a duplicate",
      },
    ]);
  });

  it("the doctor warns of an answer that comes after the platform has stopped waiting", async () => {
    const findings = await check(RATE_OFF, { billing: stripe({ secret: "one", answer: { within: "60s" } }) });
    expect(findings[1]).toMatchObject({
      level: "warning",
      message: expect.stringContaining("sources.billing: answer: got within 60000 ms, but Stripe waits for 10 s"),
    });
  });

  it("the doctor warns of records that are kept for a shorter time than the platform delivers an event", async () => {
    const sources = { billing: stripe({ secret: "one" }), code: github({ secret: "one" }) };
    const findings = await check({ ...RATE_OFF, RECORD_RETENTION_DAYS: "2" }, sources);
    expect(findings.slice(2)).toEqual([
      {
        level: "warning",
        check: "sources",
        message:
          "RECORD_RETENTION_DAYS: got 2, but Stripe delivers an event again for 3 days, and the source billing refuses " +
          "older events: set it to 3 at least",
      },
    ]);
    expect(await check({ ...RATE_OFF, RECORD_RETENTION_DAYS: "3" }, sources)).toHaveLength(2);
  });

  it("the doctor names the variable of a secret that cannot be used", async () => {
    const env = { SOURCES: "stripe", STRIPE_SECRET: "whsec_one", STRIPE_SECRET_PREVIOUS: " two" };
    expect(await check(env)).toEqual([
      {
        level: "failure",
        check: "sources",
        message: "STRIPE_SECRET_PREVIOUS: got a text with white space or a newline around it; remove it",
      },
    ]);
    expect(await check({ SOURCES: "stripe", STRIPE_SECRET: "sk_live_1" })).toMatchObject([
      {
        message: expect.stringContaining("STRIPE_SECRET: got an API key, expected the endpoint's signing secret"),
      },
    ]);
  });
});
