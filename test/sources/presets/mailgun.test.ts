import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/domain/index.ts";
import { refused } from "../../../src/domain/index.ts";
import { mailgun } from "../../../src/sources/presets/index.ts";
import { requestOf } from "../../support/contract.ts";
import { openPreset, verifiedEvents } from "../../support/preset.ts";

const KEY = "a webhook signing key";
const PARENT = "the primary account's signing key";
const TIMESTAMP = "1529006854";
const TOKEN = "a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0";
const EVENT = { event: "opened", timestamp: 1_529_006_854.329574, id: "DACSsAdVSeGpLid7TN03WA" };

function signatureBy(key: string, over: JsonObject = {}): JsonObject {
  const signature = createHmac("sha256", key)
    .update(TIMESTAMP + TOKEN)
    .digest("hex");
  return { timestamp: TIMESTAMP, token: TOKEN, signature, ...over };
}

function verify(body: unknown, secret: string | string[] = KEY) {
  return openPreset(mailgun({ secret })).scheme.verify(requestOf(body as never));
}

describe("a callback of Mailgun", () => {
  it("a callback of Mailgun that is signed like the documentation's sample has its token as the id", async () => {
    const body = { signature: signatureBy(KEY), "event-data": EVENT };
    const [event] = await verifiedEvents(mailgun({ secret: KEY }), requestOf(body));
    expect(event?.json).toMatchObject({ event_id: TOKEN, event_type: "opened" });
    expect(event?.json.data).toMatchObject({ id: EVENT.id });
    expect(openPreset(mailgun({ secret: KEY })).contract.isIdSigned).toBe(true);
  });

  it("a callback of Mailgun of a subaccount is authentic by the primary account's key", async () => {
    const { signature } = signatureBy(PARENT);
    const body = { signature: signatureBy(KEY, { "parent-signature": signature as string }) };
    expect(await verify(body, [PARENT])).toEqual({ verified: [{ method: "hmac", index: 0 }] });
    expect(await verify(body, ["another key", KEY])).toEqual({ verified: [{ method: "hmac", index: 1 }] });
  });

  it.each([
    ["another key", { signature: signatureBy("another key") }, "signature_mismatch"],
    [
      "another token",
      { signature: signatureBy(KEY, { token: TOKEN.replace("a8", "b8") }) },
      "signature_mismatch",
    ],
    ["another time", { signature: signatureBy(KEY, { timestamp: "1529006855" }) }, "signature_mismatch"],
    [
      "a time and a token that are cut elsewhere",
      { signature: signatureBy(KEY, { timestamp: "1529006", token: `854${TOKEN}` }) },
      "signature_malformed",
    ],
    ["no signature", { "event-data": EVENT }, "signature_missing"],
    ["an empty body", "", "signature_missing"],
    ["a text in its place", { signature: "abc" }, "signature_malformed"],
    ["no token", { signature: signatureBy(KEY, { token: null }) }, "signature_malformed"],
    [
      "uppercase digits",
      { signature: signatureBy(KEY, { signature: "A".repeat(64) }) },
      "signature_malformed",
    ],
    ["a body that is no JSON", "{", "signature_malformed"],
    ["a body that nests too deep", "[".repeat(100_000), "signature_malformed"],
  ])("a callback of Mailgun with %s is refused", async (_, body, code) => {
    expect(await verify(body)).toMatchObject({ kind: "refused", code });
  });

  it("a callback of Mailgun whose token is a number is refused, since longer digits would be a new id", async () => {
    const token = "1234567890123456";
    const signature = createHmac("sha256", KEY)
      .update(TIMESTAMP + token)
      .digest("hex");
    const text = JSON.stringify({
      signature: { timestamp: TIMESTAMP, token, signature },
      "event-data": EVENT,
    });
    expect(await verify(text)).toMatchObject({ verified: [{ index: 0 }] });
    for (const digits of [token, `${token}.00000000001`])
      expect(await verify(text.replace(`"${token}"`, digits))).toMatchObject({ code: "signature_malformed" });
    expect(await verify(text.replace(`"${TIMESTAMP}"`, TIMESTAMP))).toMatchObject({
      code: "signature_malformed",
    });
  });

  it("a callback of Mailgun that a handler rejects is answered 406, so that Mailgun sends it no more", () => {
    const { contract } = openPreset(mailgun({ secret: KEY }));
    expect(contract.respond?.(refused("event_invalid"))).toMatchObject({ status: 406 });
    expect(contract.respond?.(refused("signature_mismatch"))).toBeUndefined();
  });
});
