import { createHash, generateKeyPairSync } from "node:crypto";
import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { fusionauth, wix } from "../../../src/sources/platforms/index.ts";
import { requestOf } from "../../support/contract.ts";
import { SECRET } from "../../support/documented-preset.ts";
import { openPreset, PRESET_NOW, verifiedEvents } from "../../support/preset.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const ed25519 = generateKeyPairSync("ed25519");
const pem = ({ publicKey }: typeof rsa) => publicKey.export({ type: "spki", format: "pem" }) as string;
const seconds = PRESET_NOW.getTime() / 1_000;

describe("a callback of FusionAuth", () => {
  const body = JSON.stringify({
    event: {
      id: "e502168a-b469-45d9-a079-fd45f83e0406",
      type: "user.create",
      createInstant: 1_505_762_615_056,
    },
  });
  const hash = (text: string) => createHash("sha256").update(text).digest("base64");
  const signed = async (key: Parameters<SignJWT["sign"]>[0], alg: string, text = body) =>
    requestOf(body, {
      headers: {
        "X-FusionAuth-Signature-JWT": await new SignJWT({ request_body_sha256: hash(text) })
          .setProtectedHeader({ alg })
          .sign(key),
      },
    });
  const shared = Buffer.from(SECRET);

  it.each([
    ["HS256", fusionauth({ secret: SECRET }), shared],
    ["RS256", fusionauth({ publicKey: pem(rsa) }), rsa.privateKey],
    ["EdDSA", fusionauth({ publicKey: pem(ed25519 as never), algorithm: "EdDSA" }), ed25519.privateKey],
  ] as const)("a token that is signed by %s is read into its event", async (algorithm, preset, key) => {
    const [event] = await verifiedEvents(preset, await signed(key, algorithm));
    expect(event?.json).toMatchObject({
      event_id: "e502168a-b469-45d9-a079-fd45f83e0406",
      event_type: "user.create",
      timestamp: 1_505_762_615,
    });
  });

  it("a token with the hash of another body is refused", async () => {
    const { scheme } = openPreset(fusionauth({ secret: SECRET }));
    expect(await scheme.verify(await signed(shared, "HS256", "{}"))).toMatchObject({
      code: "jwt_body_mismatch",
    });
  });

  it("a token that is signed by another algorithm, or with the public key as a secret, is refused", async () => {
    const { scheme } = openPreset(fusionauth({ publicKey: pem(rsa) }));
    const request = await signed(Buffer.from(pem(rsa)), "HS256");
    expect(await scheme.verify(request)).toMatchObject({ code: "jwt_malformed" });
  });

  it("a callback of FusionAuth without a token is refused", async () => {
    expect(await openPreset(fusionauth({ secret: SECRET })).scheme.verify(requestOf(body))).toMatchObject({
      code: "token_missing",
    });
  });

  it("the preset fusionauth needs a secret or a public key, and a known algorithm", () => {
    expect(() => fusionauth({})).toThrow("fusionauth: `secret`: got none");
    expect(() => fusionauth({ publicKey: "abc" })).toThrow("fusionauth: `publicKey`: holds no PEM block");
    const mismatched = { publicKey: pem(rsa), algorithm: "ES256" } as const;
    expect(() => fusionauth(mismatched)).toThrow(
      'block 1: got rsa 2048 bits, expected an EC key on P-256 for `algorithm: "ES256"`',
    );
    const wrong = { publicKey: pem(rsa), algorithm: "HS256" as never };
    expect(() => fusionauth(wrong)).toThrow("fusionauth: `algorithm`");
  });
});

describe("a callback of Wix", () => {
  const preset = wix({ publicKey: [undefined, pem(rsa)] });
  const inner = { id: "0614", entityFqdn: "wix.ecom.v1.order", eventTime: "2026-06-15T12:00:00.123Z" };
  const signed = async (data: object, key = rsa.privateKey, expires = seconds + 300) => {
    const outer = { instanceId: "inst", eventType: "wix.ecom.v1.order_created", data: JSON.stringify(data) };
    const token = new SignJWT({ data: JSON.stringify(outer) }).setProtectedHeader({ alg: "RS256" });
    return requestOf(await token.setIssuedAt(seconds).setExpirationTime(expires).sign(key));
  };
  const verify = async (request: Promise<ReturnType<typeof requestOf>>) =>
    openPreset(preset).scheme.verify(await request);

  it("an event of Wix is read from the texts inside of its token", async () => {
    const [event] = await verifiedEvents(preset, await signed(inner));
    expect(event?.json).toMatchObject({
      event_id: "wix.ecom.v1.order.0614",
      event_type: "wix.ecom.v1.order_created",
      data: { instanceId: "inst", data: { id: "0614" } },
    });
  });

  it("a webhook of Wix in the older form has the token's hash as its id", async () => {
    const request = await signed({ id: "an object's id" });
    const [event] = await verifiedEvents(preset, request);
    expect(event?.eventId).toBe(createHash("sha256").update(request.body).digest("hex"));
  });

  it("a token of Wix that is signed with another key, or has expired, is refused", async () => {
    const other = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
    expect(await verify(signed(inner, other))).toMatchObject({ code: "jwt_signature" });
    expect(await verify(signed(inner, rsa.privateKey, seconds - 60))).toMatchObject({ code: "jwt_claims" });
  });

  it("the preset wix needs a public key of RSA", () => {
    expect(() => wix({ publicKey: "abc" })).toThrow("wix: `publicKey`: holds no PEM block");
    expect(() => wix({ publicKey: pem(ed25519 as never) })).toThrow(
      "wix: `publicKey`: block 1: got ed25519, expected an RSA key of at least 2048 bits for RS256",
    );
  });
});
