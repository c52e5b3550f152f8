import { createHash, generateKeyPairSync, type KeyObject, X509Certificate } from "node:crypto";
import { exportJWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { createJwtScheme, fixedKeys, jwksKeys, secretKeys } from "../../../src/sources/index.ts";
import { keysById } from "../../../src/sources/schemes/jwks-keys.ts";
import type { JwtOptions } from "../../../src/sources/schemes/jwt.ts";
import { x5cKeys } from "../../../src/sources/schemes/jwt-keys.ts";
import { requestKeys } from "../../../src/sources/schemes/key-request.ts";
import { credentialHeader } from "../../../src/sources/schemes/token.ts";
import { tokenInBody } from "../../../src/sources/schemes/token-place.ts";
import { type Issued, issueCertificate } from "../../support/certificate-chain.ts";
import { withHttpServer } from "../../support/http-server.ts";
import { NOW, SECRET, seconds, token } from "../../support/jwt.ts";
import { POSTED } from "../../support/posted.ts";

const BODY = Buffer.from([0x7b, 0xff, 0x7d]);
const T = seconds(NOW);
const clock = { now: () => NOW };
const sha256 = (body: Uint8Array) => createHash("sha256").update(body).digest();
const p256 = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const rsa = () => generateKeyPairSync("rsa", { modulusLength: 2_048 });

const BARE = {
  issuer: null,
  audience: null,
  clockToleranceSeconds: 5,
  bodyClaim: null,
  requiredClaims: [],
  clock,
} as const;

const verify = (options: JwtOptions, headers: Record<string, string[]>, body: Uint8Array = BODY) =>
  createJwtScheme(options).verify({ ...POSTED, headers, body });

describe("a JWT as Plaid sends it", () => {
  const { publicKey, privateKey } = p256();
  const claims = { iat: T, request_body_sha256: sha256(BODY).toString("hex") };

  /** Plaid's `/webhook_verification_key/get`: a POST with credentials, and 400 for an unknown id. */
  function withPlaid(use: (options: JwtOptions, asked: string[]) => Promise<void>): Promise<void> {
    const asked: string[] = [];
    return withHttpServer(
      (request, response) => {
        request.setEncoding("utf8").on("data", async (text: string) => {
          const { secret, key_id: id } = JSON.parse(text);
          asked.push(id);
          if (secret !== "plaid-secret") return response.writeHead(403).end();
          if (id !== "known") return response.writeHead(400).end();
          response.end(JSON.stringify({ key: { ...(await exportJWK(publicKey)), kid: id, alg: "ES256", use: "sig" } }));
        });
      },
      (origin) => {
        const fetchKey = async (kid: string) => {
          const body = JSON.stringify({ client_id: "client", secret: "plaid-secret", key_id: kid });
          const headers = { "content-type": "application/json" };
          const text = await requestKeys(origin, { method: "POST", headers, body, absent: [400] });
          return text === undefined ? undefined : JSON.parse(text).key;
        };
        const options: JwtOptions = {
          ...{ ...BARE, algorithm: "ES256", keys: keysById(fetchKey, { name: "Plaid" }) },
          header: credentialHeader("Plaid-Verification", ""),
          bodyClaim: "request_body_sha256",
          maxAgeSeconds: 300,
        };
        return use(options, asked);
      },
    );
  }

  const sent = async (over: object = {}, kid = "known", key: KeyObject = privateKey) => ({
    "plaid-verification": [await token({ ...claims, ...over }, { alg: "ES256", kid }, key)],
  });

  it("a JWT whose key comes from an authenticated API is accepted, and its key is asked for once", () =>
    withPlaid(async (options, asked) => {
      const scheme = createJwtScheme(options);
      for (let index = 0; index < 3; index += 1)
        expect(await scheme.verify({ ...POSTED, headers: await sent(), body: BODY })).toEqual({
          verified: [{ method: "jwt", index: 0 }],
        });
      expect(asked).toEqual(["known"]);
    }));

  it.each([
    ["is older than its age allows", { iat: T - 306 }, "jwt_claims", '"iat" was 306 s ago'],
    ["is of the future", { iat: T + 6 }, "jwt_claims", "iat"],
    ["has no time", { iat: undefined }, "jwt_claims", "iat"],
    [
      "is of another body",
      { request_body_sha256: sha256(Buffer.of(1)).toString("hex") },
      "jwt_body_mismatch",
      undefined,
    ],
    ["has the hash in base64", { request_body_sha256: sha256(BODY).toString("base64") }, "jwt_claims", "64 lowercase"],
  ])("a JWT that %s is refused", (_title, over, code, detail) =>
    withPlaid(async (options) => {
      const expected = detail === undefined ? { code } : { code, detail: expect.stringContaining(detail) };
      expect(await verify(options, await sent(over))).toMatchObject(expected);
    }),
  );

  it("a JWT of a forged key or of an unknown id is refused without another request for the known one", () =>
    withPlaid(async (options, asked) => {
      const scheme = createJwtScheme(options);
      const verdict = async (headers: Record<string, string[]>) => scheme.verify({ ...POSTED, headers, body: BODY });
      for (let index = 0; index < 3; index += 1) {
        expect(await verdict(await sent({}, "known", p256().privateKey))).toMatchObject({
          code: "jwt_signature",
        });
        expect(await verdict(await sent({}, "forged"))).toMatchObject({ detail: "no key has its kid" });
      }
      expect(asked.toSorted()).toEqual(["forged", "known"]);
    }));
});

describe("a JWT as Google Pub/Sub sends it", () => {
  const { publicKey, privateKey } = rsa();
  const EMAIL = "push@project.iam.gserviceaccount.com";
  const claims = {
    iss: "https://accounts.google.com",
    aud: "https://hooks.example/push",
    exp: T + 60,
    email: EMAIL,
    email_verified: true,
  };

  const withGoogle = (use: (verdict: (over: object) => Promise<unknown>) => Promise<void>) =>
    withHttpServer(
      async (_request, response) => {
        response.end(
          JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "RS256", use: "sig" }] }),
        );
      },
      (origin) => {
        const options: JwtOptions = {
          ...{
            ...BARE,
            algorithm: "RS256",
            keys: jwksKeys(origin, undefined, "Google"),
            header: "Authorization",
          },
          issuer: ["https://accounts.google.com", "accounts.google.com"],
          audience: claims.aud,
          requiredClaims: ["iss", "aud", "exp", "email"],
          checkClaims: ({ email, email_verified: isVerified }) =>
            email === EMAIL && isVerified === true ? undefined : `email: expected ${EMAIL}, verified`,
        };
        return use(async (over) => {
          const jwt = await token({ ...claims, ...over }, { alg: "RS256", kid: "k" }, privateKey);
          return verify(options, { authorization: [`Bearer ${jwt}`] });
        });
      },
    );

  it("a JWT of any of several issuers is accepted", () =>
    withGoogle(async (verdict) => {
      for (const iss of ["https://accounts.google.com", "accounts.google.com"])
        expect(await verdict({ iss })).toHaveProperty("verified");
      expect(await verdict({ iss: "https://accounts.google.com.evil.example" })).toHaveProperty("code", "jwt_claims");
    }));

  it("a JWT of another service account of the same issuer is refused", () =>
    withGoogle(async (verdict) => {
      const detail = `email: expected ${EMAIL}, verified`;
      for (const over of [{ email: "push@other.iam.gserviceaccount.com" }, { email_verified: false }])
        expect(await verdict(over)).toMatchObject({ code: "jwt_claims", detail });
      expect(await verdict({ email: undefined })).toMatchObject({ code: "jwt_claims" });
    }));
});

describe("a JWT as LiveKit and monday send it", () => {
  const LIVEKIT: JwtOptions = {
    ...{ ...BARE, algorithm: "HS256", keys: secretKeys(["another-secret-of-32-bytes-or-so", SECRET]) },
    header: credentialHeader("Authorization", ""),
    issuer: "api-key",
    requiredClaims: ["iss", "exp"],
    bodyClaim: "sha256",
    bodyClaimEncoding: "base64",
  };
  const claims = { iss: "api-key", exp: T + 60, sha256: sha256(BODY).toString("base64") };

  it("a JWT that stands alone in `Authorization` is accepted with its hash in base64", async () => {
    expect(await verify(LIVEKIT, { authorization: [await token(claims)] })).toEqual({
      verified: [{ method: "jwt", index: 1 }],
    });
  });

  it("a JWT whose hash in base64 is another body's, cut or in hex is refused", async () => {
    const hash = sha256(BODY);
    const verdict = async (hashText: string) =>
      verify(LIVEKIT, { authorization: [await token({ ...claims, sha256: hashText })] });
    expect(await verdict(sha256(Buffer.of()).toString("base64"))).toHaveProperty("code", "jwt_body_mismatch");
    for (const text of [hash.subarray(1).toString("base64"), hash.toString("base64url"), hash.toString("hex"), ""])
      expect(await verdict(text)).toMatchObject({
        code: "jwt_claims",
        detail: expect.stringMatching(/base64$/),
      });
  });

  it("a JWT without `iss` or `aud` is accepted where the platform sends none, with its time checked", async () => {
    const options: JwtOptions = {
      ...BARE,
      algorithm: "HS256",
      keys: secretKeys([SECRET]),
      header: credentialHeader("Authorization", ""),
      requiredClaims: ["exp"],
    };
    expect(await verify(options, { authorization: [await token({ exp: T + 60 })] })).toHaveProperty("verified");
    expect(await verify(options, { authorization: [await token({ exp: T - 60 })] })).toHaveProperty(
      "code",
      "jwt_claims",
    );
    expect(await verify(options, { authorization: [await token({})] })).toHaveProperty("code", "jwt_claims");
  });
});

describe("a body that is a JWT", () => {
  const { publicKey, privateKey } = rsa();
  const WIX: JwtOptions = {
    ...BARE,
    algorithm: "RS256",
    keys: fixedKeys([publicKey]),
    header: tokenInBody(),
    requiredClaims: ["exp"],
  };
  const jwt = () => token({ exp: T + 60, data: "{}" }, { alg: "RS256" }, privateKey);

  it("a body that is a JWT is accepted", async () => {
    expect(await verify(WIX, {}, Buffer.from(await jwt()))).toHaveProperty("verified");
  });

  it("a body that is anything but one JWT is refused", async () => {
    const text = await jwt();
    for (const body of [`${text}\n`, ` ${text}`, `"${text}"`, `${text}.${text}`, text.slice(0, -2)])
      expect(await verify(WIX, {}, Buffer.from(body))).toMatchObject({ kind: "refused" });
    expect(await verify(WIX, {}, Buffer.of())).toMatchObject({
      code: "token_missing",
      isCredentialMissing: true,
    });
    expect(await verify(WIX, {}, Buffer.from([0xff, 0xfe]))).toHaveProperty("code", "jwt_malformed");
  });
});

const APPLE = {
  leafExtensions: ["1.2.840.113635.100.6.11.1"],
  issuerExtensions: ["1.2.840.113635.100.6.2.1"],
};

describe("a JWT with a chain of certificates, as Apple sends it", () => {
  let root: Issued;
  let middle: Issued;
  let leaf: Issued;
  let options: JwtOptions;

  beforeAll(async () => {
    root = await issueCertificate({ type: "ec", subject: "root", isAuthority: true });
    middle = await issueCertificate({
      type: "ec",
      subject: "middle",
      issuer: root,
      isAuthority: true,
      marks: APPLE.issuerExtensions,
    });
    leaf = await issueCertificate({
      type: "ec",
      subject: "leaf",
      issuer: middle,
      marks: APPLE.leafExtensions,
    });
    const trust = { ...APPLE, roots: [new X509Certificate(root.pem)] };
    options = {
      ...BARE,
      algorithm: "ES256",
      keys: x5cKeys(trust, clock),
      header: tokenInBody("signedPayload"),
    };
  });

  const jws = (x5c: unknown, key: KeyObject = leaf.privateKey, payload: object = { notificationUUID: "n1" }) =>
    token(payload, { alg: "ES256", x5c }, key);
  const posted = async (signedPayload: unknown) => verify(options, {}, Buffer.from(JSON.stringify({ signedPayload })));
  const chain = () => [leaf.x5c, middle.x5c, root.x5c];

  it("a JWT with a chain to the configured root is accepted, however long it is", async () => {
    expect(await posted(await jws(chain()))).toMatchObject({ verified: [{ method: "jwt", index: 0 }] });
    expect(await posted(await jws(chain(), leaf.privateKey, { data: "x".repeat(40_000) }))).toHaveProperty("verified");
  });

  it("a JWT of an unknown chain, or of another key than the leaf's, is refused", async () => {
    const forgedRoot = await issueCertificate({ type: "ec", subject: "root", isAuthority: true });
    const forged = await issueCertificate({
      type: "ec",
      subject: "leaf",
      issuer: forgedRoot,
      marks: APPLE.leafExtensions,
    });
    expect(await posted(await jws([forged.x5c, forgedRoot.x5c, root.x5c], forged.privateKey))).toMatchObject({
      code: "jwt_signature",
      detail: expect.stringContaining("x5c:"),
    });
    expect(await posted(await jws(chain(), forged.privateKey))).toMatchObject({ code: "jwt_signature" });
  });

  it("a JWT whose leaf is issued by the same root for another purpose is refused", async () => {
    const other = await issueCertificate({ type: "ec", subject: "other", issuer: middle });
    expect(await posted(await jws([other.x5c, middle.x5c, root.x5c], other.privateKey))).toMatchObject({
      code: "jwt_signature",
      detail: `x5c: certificate 1 lacks the extension ${APPLE.leafExtensions[0]}`,
    });
  });

  it.each([
    ["none", undefined],
    ["an empty list", []],
    ["a text", "AAAA"],
    ["no certificates", ["AAAA", "BBBB"]],
    ["numbers", [1, 2, 3]],
    ["too many", Array(5).fill("AAAA")],
  ])("a JWT with %s in place of its chain is malformed", async (_title, x5c) => {
    expect(await posted(await jws(x5c))).toMatchObject({
      code: "jwt_malformed",
      detail: expect.stringContaining("x5c"),
    });
  });

  it("a JWT is read from its own property of the body alone", async () => {
    const jwt = await jws(chain());
    const verdict = (body: string) => verify(options, {}, Buffer.from(body));
    expect(await verdict(`{"signedPayload":1}`)).toHaveProperty("code", "token_missing");
    expect(await verdict(`{"other":"${jwt}"}`)).toHaveProperty("code", "token_missing");
    expect(await verdict(`["${jwt}"]`)).toMatchObject({
      code: "jwt_malformed",
      detail: "the body: body_not_object",
    });
    expect(await verdict(`${"[".repeat(100)}`)).toHaveProperty("code", "jwt_malformed");
    expect(await verdict(`{"__proto__":{"signedPayload":"${jwt}"}}`)).toHaveProperty("code", "jwt_malformed");
  });
});
