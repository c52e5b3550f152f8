import { createHash, createHmac, generateKeyPairSync, type KeyObject } from "node:crypto";
import { describe, expect, it } from "vitest";
import { fixedKeys, type JwtAlgorithm, jwksKeys, pemKeys, secretKeys } from "../../../src/sources/index.ts";
import { withHttpServer } from "../../support/http-server.ts";
import { BODY, CLAIMS, NOW, SECRET, seconds, token, verify } from "../../support/jwt.ts";

const RSA = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pairs = (rsa: typeof RSA) => ({
  RS256: rsa,
  PS256: rsa,
  ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  EdDSA: generateKeyPairSync("ed25519"),
});
const PAIRS = pairs(RSA);
const STRANGERS = pairs(generateKeyPairSync("rsa", { modulusLength: 2048 }));
const pem = (key: KeyObject) => key.export({ type: "spki", format: "pem" }).toString();

/** Over a text that no JavaScript value is written as. */
function signedText(payload: string): string {
  const content = ['{"alg":"HS256"}', payload].map((text) => Buffer.from(text).toString("base64url")).join(".");
  return `${content}.${createHmac("sha256", SECRET).update(content).digest("base64url")}`;
}

describe("a JWT", () => {
  it("a JWT is accepted with its issuer, audience and time", async () => {
    expect(await verify(await token(CLAIMS))).toMatchObject({ verified: [{ method: "jwt", index: 0 }] });
  });

  it.each([
    ["iss", { iss: undefined }],
    ["iss", { iss: "https://somebody.else" }],
    ["aud", { aud: undefined }],
    ["aud", { aud: "another-service" }],
    ["exp", { exp: undefined }],
    ["exp", { exp: seconds(NOW) - 6 }],
    ["nbf", { nbf: seconds(NOW) + 6 }],
  ])("a JWT is refused when %s does not fit: %j", async (claim, over) => {
    const verdict = await verify(await token({ ...CLAIMS, ...over }));
    expect(verdict).toMatchObject({
      code: "jwt_claims",
      message: "invalid token",
      detail: expect.stringContaining(`"${claim}"`),
    });
  });

  it.each([
    [{ exp: seconds(NOW) - 3_600 }, '"exp" was 3600 s ago'],
    [{ nbf: seconds(NOW) + 60 }, '"nbf" is in 60 s'],
  ])("the log says how far the time of a JWT is off: %j", async (over, detail) => {
    expect(await verify(await token({ ...CLAIMS, ...over }))).toMatchObject({ detail });
  });

  it.each(["exp", "nbf", "iat"])("a token whose %s is beyond every time is refused", async (claim) => {
    const text = JSON.stringify({ ...CLAIMS, [claim]: 0 });
    for (const number of ["1e400", "-1e400", "1e300"]) {
      const payload = text.replace(`"${claim}":0`, `"${claim}":${number}`);
      const verdict = await verify(signedText(payload));
      expect(verdict, number).toMatchObject({ kind: "refused", code: "jwt_claims" });
    }
  });

  it.each([{ exp: seconds(NOW) - 4 }, { nbf: seconds(NOW) + 4 }])(
    "the time of a JWT may be off by the tolerance: %j",
    async (over) => {
      expect(await verify(await token({ ...CLAIMS, ...over }))).toHaveProperty("verified");
    },
  );

  it("a JWT is refused after a change in any part", async () => {
    const parts = (await token(CLAIMS)).split(".");
    for (const [index, part] of parts.entries()) {
      const changed = parts.with(index, `${part.startsWith("e") ? "f" : "e"}${part.slice(1)}`).join(".");
      expect(await verify(changed)).toHaveProperty("code", expect.stringMatching(/^jwt_(malformed|signature)$/));
    }
  });

  it("a JWT with `none`, another algorithm or `crit` is refused whatever its signature", async () => {
    const none = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from(JSON.stringify(CLAIMS)).toString("base64url")}.`;
    expect(await verify(none)).toMatchObject({ code: "jwt_malformed" });
    // A public key that is known to all, taken for a shared secret.
    const confused = await token(CLAIMS, { alg: "HS256" }, Buffer.from(pem(RSA.publicKey)));
    const keys = fixedKeys(pemKeys(pem(RSA.publicKey), "RS256"));
    expect(await verify(confused, { algorithm: "RS256", keys })).toMatchObject({ code: "jwt_malformed" });
    const other = await token(CLAIMS, { alg: "PS256" }, RSA.privateKey);
    expect(await verify(other, { algorithm: "RS256", keys })).toMatchObject({ code: "jwt_malformed" });
    const [, payload, signature] = (await token(CLAIMS)).split(".");
    const crit = Buffer.from('{"alg":"HS256","crit":["exp"]}').toString("base64url");
    expect(await verify(`${crit}.${payload}.${signature}`)).toMatchObject({ code: "jwt_malformed" });
  });

  it.each([
    ["no header", {}, "token_missing"],
    ["no bearer", { authorization: ["Basic eA=="] }, "token_missing"],
    ["two", { authorization: ["Bearer a", "Bearer b"] }, "token_repeated"],
    ["no JWT", { authorization: ["Bearer not.a.jwt"] }, "jwt_malformed"],
    ["a long one", { authorization: [`Bearer ${"a".repeat(9_000)}`] }, "jwt_malformed"],
  ])("a missing or invalid JWT is refused: %s", async (_name, headers, code) => {
    expect(await verify("", {}, headers as Record<string, string[]>)).toMatchObject({
      kind: "refused",
      code,
    });
  });

  it("a JWT of more than 8192 characters is refused before its signature is verified", async () => {
    const { length } = await token({ ...CLAIMS, padding: "" });
    const lengthOf = (padding: number) => token({ ...CLAIMS, padding: "x".repeat(padding) });
    let padding = Math.floor(((8_192 - length) * 3) / 4) - 3;
    while ((await lengthOf(padding + 1)).length <= 8_192) padding += 1;
    expect(await verify(await lengthOf(padding))).toHaveProperty("verified");
    expect(await verify(await lengthOf(padding + 1))).toMatchObject({
      code: "jwt_malformed",
      detail: "longer than 8192 characters",
    });
  });

  it.each([
    ["a kid of more than 256 characters", { alg: "HS256", kid: "k".repeat(257) }],
    ["a kid that is no text", { alg: "HS256", kid: 7 }],
    ["no algorithm", { kid: "k" }],
    ["a list in the place of its header", [{ alg: "HS256" }]],
    ["null in the place of its header", null],
  ])("a JWT is refused as malformed with %s, whatever its signature", async (_title, header) => {
    const [, payload, signature] = (await token(CLAIMS)).split(".");
    const written = Buffer.from(JSON.stringify(header)).toString("base64url");
    expect(await verify(`${written}.${payload}.${signature}`)).toMatchObject({
      code: "jwt_malformed",
      detail: expect.not.stringContaining("expected HS256"),
    });
  });

  it("a JWT may have a kid of 256 characters", async () => {
    const header = { alg: "HS256", kid: "k".repeat(256) };
    expect(await verify(await token(CLAIMS, header))).toHaveProperty("verified");
  });

  it("a JWT is refused with a part that is not the canonical encoding of its bytes", async () => {
    const [header, payload, signature = ""] = (await token(CLAIMS)).split(".");
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    // The last of 43 characters holds two bits that are not part of the 32 bytes.
    const last = alphabet[alphabet.indexOf(signature.slice(-1)) + 1];
    const other = `${signature.slice(0, -1)}${last}`;
    expect(Buffer.from(other, "base64url")).toEqual(Buffer.from(signature, "base64url"));
    expect(await verify(`${header}.${payload}.${other}`)).toMatchObject({ code: "jwt_malformed" });
  });

  it.each(["", "abc", "0".repeat(63), "0".repeat(66), "A".repeat(64), ["0".repeat(64)]])(
    "a JWT is refused with a body hash that is not 64 lowercase hexadecimal digits: %j",
    async (body_sha256) => {
      const jwt = await token({ ...CLAIMS, body_sha256 });
      expect(await verify(jwt, { bodyClaim: "body_sha256" })).toMatchObject({
        kind: "refused",
        code: "jwt_claims",
      });
    },
  );

  it("a JWT may come alone in a header of another name", async () => {
    const headers = { "x-platform-token": [await token(CLAIMS)] };
    expect(await verify("", { header: "X-Platform-Token" }, headers)).toHaveProperty("verified");
  });

  it("a JWT is bound to the body by a claim with its hash", async () => {
    const hash = createHash("sha256").update(BODY).digest("hex");
    const over = { bodyClaim: "body_sha256" };
    expect(await verify(await token({ ...CLAIMS, body_sha256: hash }), over)).toHaveProperty("verified");
    expect(await verify(await token(CLAIMS), over)).toMatchObject({ code: "jwt_claims" });
    const other = createHash("sha256").update("another body").digest("hex");
    expect(await verify(await token({ ...CLAIMS, body_sha256: other }), over)).toMatchObject({
      code: "jwt_body_mismatch",
    });
  });

  it("a JWT may still be signed with the previous secret during a rotation", async () => {
    const keys = secretKeys(["the-new-secret-of-32-bytes-or-more", SECRET]);
    expect(await verify(await token(CLAIMS), { keys })).toEqual({
      verified: [{ method: "jwt", index: 1 }],
    });
  });

  it.each(Object.keys(PAIRS) as (keyof typeof PAIRS)[])(
    "a JWT is accepted with %s and a key in PEM, and refused with a stranger's key",
    async (algorithm) => {
      const { privateKey, publicKey } = PAIRS[algorithm];
      const keys = fixedKeys(pemKeys(pem(publicKey), algorithm));
      const jwt = await token(CLAIMS, { alg: algorithm }, privateKey);
      expect(await verify(jwt, { algorithm, keys })).toHaveProperty("verified");
      const forged = await token(CLAIMS, { alg: algorithm }, STRANGERS[algorithm].privateKey);
      expect(await verify(forged, { algorithm, keys })).toMatchObject({ code: "jwt_signature" });
    },
  );
});

/** RFC 7515 A.1 to A.3, RFC 7519 §6.1 and RFC 8037 A.4, whose claims are none of ours. */
describe("the examples of the RFCs", () => {
  const JOE = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
  const RSA_N =
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";
  const RSA_SIGNATURE =
    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";

  it.each([
    [
      "RFC 7515 A.1",
      "HS256",
      {
        kty: "oct",
        k: "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow",
      },
      `eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.${JOE}.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk`,
    ],
    ["RFC 7515 A.2", "RS256", { kty: "RSA", e: "AQAB", n: RSA_N }, `eyJhbGciOiJSUzI1NiJ9.${JOE}.${RSA_SIGNATURE}`],
    [
      "RFC 7515 A.3",
      "ES256",
      {
        kty: "EC",
        crv: "P-256",
        x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
      },
      `eyJhbGciOiJFUzI1NiJ9.${JOE}.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q`,
    ],
    [
      "RFC 8037 A.4",
      "EdDSA",
      { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" },
      "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
    ],
  ])("%s has a valid signature, and none after a change", async (_name, algorithm, key, jws) => {
    await withHttpServer(
      (_request, response) => response.end(JSON.stringify({ keys: [key] })),
      async (origin) => {
        const isShared = "k" in key;
        const keys = isShared ? secretKeys([Buffer.from(key.k as string, "base64url")]) : jwksKeys(origin);
        const over = { algorithm: algorithm as JwtAlgorithm, keys };
        expect(await verify(jws, over)).toMatchObject({ code: "jwt_claims" });
        const [header, payload, signature = ""] = jws.split(".");
        const forged = `${header}.${payload}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
        expect(await verify(forged, over)).toMatchObject({ code: "jwt_signature" });
      },
    );
  });

  it("RFC 7519 §6.1, which is not signed, is refused", async () => {
    expect(await verify(`eyJhbGciOiJub25lIn0.${JOE}.`)).toMatchObject({ code: "jwt_malformed" });
  });
});
