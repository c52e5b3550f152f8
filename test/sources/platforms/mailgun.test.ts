import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type JsonObject, refused } from "../../../src/domain/index.ts";
import { mailgun } from "../../../src/sources/platforms/index.ts";
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
    expect(openPreset(mailgun({ secret: KEY })).contract.identity).toBe("signed-id");
  });

  it("a mail that a route of Mailgun forwards is read as a form and as a multipart one, with its files", async () => {
    const { signature } = signatureBy(KEY) as { signature: string };
    const mail = {
      recipient: "a@example.com",
      subject: "Ünicode",
      timestamp: TIMESTAMP,
      token: TOKEN,
      signature,
    };
    const form = new URLSearchParams(mail).toString();
    const urlencoded = { "Content-Type": "application/x-www-form-urlencoded" };
    const multipart = new FormData();
    for (const [name, value] of Object.entries(mail)) multipart.append(name, value);
    multipart.append("attachment-1", new Blob(["bytes"]), "invoice.pdf");
    const encoded = new Response(multipart);
    const type = { "Content-Type": encoded.headers.get("content-type") as string };
    for (const request of [
      requestOf(form, { headers: urlencoded }),
      requestOf(new Uint8Array(await encoded.arrayBuffer()), { headers: type }),
    ]) {
      const [event] = await verifiedEvents(mailgun({ secret: KEY }), request);
      expect(event?.json).toMatchObject({
        event_id: TOKEN,
        event_type: "inbound",
        data: { subject: "Ünicode" },
      });
    }
    const forged = requestOf(form.replace(TOKEN, `${TOKEN}0`), { headers: urlencoded });
    expect(await openPreset(mailgun({ secret: KEY })).scheme.verify(forged)).toMatchObject({
      code: "signature_mismatch",
    });
  });

  it("a callback of Mailgun of a subaccount is authentic by the primary account's key", async () => {
    const { signature } = signatureBy(PARENT);
    const body = { signature: signatureBy(KEY, { "parent-signature": signature as string }) };
    expect(await verify(body, [PARENT])).toMatchObject({ verified: [{ method: "hmac", index: 0 }] });
    expect(await verify(body, ["another key", KEY])).toMatchObject({
      verified: [{ method: "hmac", index: 1 }],
    });
  });

  it.each([
    ["another key", { signature: signatureBy("another key") }, "signature_mismatch"],
    ["another token", { signature: signatureBy(KEY, { token: TOKEN.replace("a8", "b8") }) }, "signature_mismatch"],
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
    ["uppercase digits", { signature: signatureBy(KEY, { signature: "A".repeat(64) }) }, "signature_malformed"],
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
      expect(await verify(text.replace(`"${token}"`, digits))).toMatchObject({ kind: "refused" });
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
