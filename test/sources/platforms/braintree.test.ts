import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { braintree } from "../../../src/sources/platforms/index.ts";
import { requestOf } from "../../support/contract.ts";
import { openSource, readSource, verifySource } from "../../support/source.ts";

const KEYS = { publicKey: "integration_public_key", privateKey: "integration_private_key" };
const OLD = { publicKey: "old_public_key", privateKey: "old_private_key" };
const source = braintree({ keys: [KEYS, OLD] });
const CHALLENGE = "20f9f8ed05f77439fe955c977e4c8a53";

/** As braintree_node has it. */
function sign(text: string, { privateKey } = KEYS): string {
  const key = createHash("sha1").update(privateKey).digest();
  return createHmac("sha1", key).update(text).digest("hex");
}

function formOf(payload: string, signature: string): string {
  return new URLSearchParams({ bt_signature: signature, bt_payload: payload }).toString();
}

function notification(xml: string, keys = KEYS): string {
  const payload = `${Buffer.from(xml).toString("base64")}\n`;
  return formOf(payload, `${keys.publicKey}|${sign(payload, keys)}`);
}

const XML = `<notification>
  <timestamp type="datetime">2026-06-15T12:00:00Z</timestamp>
  <kind>subscription_went_past_due</kind>
  <subject><subscription><id>my_id</id><kind>another</kind></subscription></subject>
</notification>`;

describe("the preset braintree", () => {
  it.each([
    ["the current keys", KEYS, 0],
    ["the keys before", OLD, 1],
  ])("the preset braintree accepts what is signed with %s", async (_title, keys, index) => {
    expect(await verifySource(source, { body: notification(XML, keys) })).toEqual({
      verified: [{ method: "hmac", index }],
    });
  });

  it("the preset braintree accepts a signature over the payload and a newline that is not sent", async () => {
    const payload = Buffer.from(XML).toString("base64");
    const body = formOf(payload, `${KEYS.publicKey}|${sign(`${payload}\n`)}`);
    expect(await verifySource(source, { body })).toHaveProperty("verified");
  });

  it("the preset braintree accepts the right pair among those of other keys", async () => {
    const payload = `${Buffer.from(XML).toString("base64")}\n`;
    const pairs = [`stranger|${"0".repeat(40)}`, `${KEYS.publicKey}|${sign(payload)}`];
    expect(await verifySource(source, { body: formOf(payload, pairs.join("&")) })).toHaveProperty("verified");
  });

  it.each([
    ["another key", formOf("YWJj", `stranger|${sign("YWJj")}`), "signature_mismatch"],
    ["another payload", formOf("YWJk", `${KEYS.publicKey}|${sign("YWJj")}`), "signature_mismatch"],
    ["a payload that is no base64", formOf("a b", `${KEYS.publicKey}|${sign("a b")}`), "signature_malformed"],
    ["a short digest", formOf("YWJj", `${KEYS.publicKey}|abc`), "signature_malformed"],
    ["no signature", "bt_payload=YWJj", "signature_missing"],
    ["an empty body", "", "signature_missing"],
    ["two payloads", `${formOf("YWJj", "a|b")}&bt_payload=YWJj`, "signature_repeated"],
    ["no form", "bt_payload=%zz", "signature_malformed"],
    [
      "seventeen pairs",
      formOf(
        "YWJj",
        Array(17)
          .fill(`${KEYS.publicKey}|${sign("YWJj")}`)
          .join("&"),
      ),
      "signature_malformed",
    ],
  ])("the preset braintree refuses %s", async (_title, body, code) => {
    expect(await verifySource(source, { body })).toMatchObject({ kind: "refused", code });
  });

  it("the answer to a challenge is no signature of an event", async () => {
    const body = formOf(CHALLENGE, `${KEYS.publicKey}|${sign(CHALLENGE)}`);
    expect(await verifySource(source, { body })).toMatchObject({ code: "signature_malformed" });
  });

  it("the preset braintree hands the XML on as a text, with the notification's own kind as the type", () => {
    const sha256 = createHash("sha256").update(XML).digest("hex");
    expect(readSource(source, { body: notification(XML) })).toMatchObject([
      { event_id: sha256, event_type: "subscription_went_past_due", data: { value: XML } },
    ]);
  });

  it("a kind inside the subject alone is not the notification's", () => {
    const { contract } = openSource(source);
    const xml = "<notification><subject><kind>check</kind></subject></notification>";
    expect(contract.read(requestOf(notification(xml)))).toMatchObject({ code: "event_type_missing" });
  });
});

describe("a challenge of Braintree", () => {
  const { contract } = openSource(source);
  const asked = (query: string) =>
    contract.challenge?.(requestOf("", { method: "GET", target: `/api/source/callback?${query}` }));

  it("a challenge of Braintree is answered with the public key and a digest", async () => {
    expect(await asked(`bt_challenge=${CHALLENGE}`)).toMatchObject({
      status: 200,
      headers: { "content-type": "text/plain; charset=utf-8" },
      body: `${KEYS.publicKey}|${sign(CHALLENGE)}`,
    });
  });

  it.each(["YWJj", "%3Cxml%3E", "20F9F8ED05F77439FE955C977E4C8A53", "ab", "a".repeat(33)])(
    "nothing else is signed for a stranger: %s",
    async (text) => {
      expect(await asked(`bt_challenge=${text}`)).toMatchObject({ code: "handshake_invalid" });
    },
  );
});

describe("options of the preset braintree", () => {
  it.each([
    [{}],
    [{ keys: [] }],
    [{ keys: { publicKey: "a" } }],
    [{ keys: { publicKey: "a", privateKey: undefined } }],
    [{ keys: { publicKey: "a", privateKey: "b\n" } }],
  ])("%j is refused", (options) => {
    expect(() => braintree(options as never)).toThrow(TypeError);
  });
});
