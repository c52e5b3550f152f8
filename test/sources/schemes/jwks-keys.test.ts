import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { exportJWK } from "jose";
import { describe, expect, it } from "vitest";
import { UnverifiedBodies } from "../../../src/receive/unverified-bodies.ts";
import { type JwtKeys, jwksKeys } from "../../../src/sources/index.ts";
import { withHttpServer } from "../../support/http-server.ts";
import { CLAIMS, token, verify } from "../../support/jwt.ts";
import { until } from "../../support/until.ts";

const COOLDOWN = 2_000;
const FAILURE = 5_000;
const FRESH = 600_000;
const HOUR = 3_600_000;

describe("a platform's JWK Set", () => {
  const jwk = async (kid: string, key: KeyObject) => ({
    ...(await exportJWK(key)),
    kid,
    alg: "ES256",
    use: "sig",
  });
  const pair = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signed = (kid: string | undefined, key: KeyObject) =>
    token(CLAIMS, kid === undefined ? { alg: "ES256" } : { alg: "ES256", kid }, key);

  /** An address that publishes `keys`, while it is `up`; and a clock that the test moves. */
  interface Platform {
    keys: object[];
    state: "up" | "down" | "hanging";
    asked: number;
    clock: number;
    readonly origin: string;
    readonly over: { readonly algorithm: "ES256"; readonly keys: JwtKeys };
  }

  function withPlatform(use: (platform: Platform) => Promise<void>): Promise<void> {
    const platform = { keys: [] as object[], state: "up" as Platform["state"], asked: 0, clock: 0 };
    return withHttpServer(
      (_request, response) => {
        platform.asked += 1;
        if (platform.state === "hanging") return;
        response.statusCode = platform.state === "down" ? 503 : 200;
        response.end(JSON.stringify({ keys: platform.keys }));
      },
      (origin) => {
        const keys = jwksKeys(origin, () => platform.clock);
        return use(Object.assign(platform, { origin, over: { algorithm: "ES256", keys } as const }));
      },
    );
  }

  it("a JWK Set is fetched once for many tokens, and again for a key that is new", () =>
    withPlatform(async (platform) => {
      const [old, fresh] = [pair(), pair()];
      platform.keys = [await jwk("old", old.publicKey)];
      for (let index = 0; index < 5; index += 1)
        expect(await verify(await signed("old", old.privateKey), platform.over)).toHaveProperty("verified");
      expect(platform.asked).toBe(1);
      platform.keys = [await jwk("new", fresh.publicKey), ...platform.keys];
      platform.clock += COOLDOWN;
      expect(await verify(await signed("new", fresh.privateKey), platform.over)).toHaveProperty("verified");
      expect(await verify(await signed("old", old.privateKey), platform.over)).toHaveProperty("verified");
      expect(platform.asked).toBe(2);
    }));

  it("a JWK Set is not fetched for each unknown `kid`, and no address in a token is", { tags: "full" }, () =>
    withPlatform(async (platform) => {
      const [known, stranger] = [pair(), pair()];
      platform.keys = [await jwk("known", known.publicKey)];
      const begun = performance.now();
      const header = {
        alg: "ES256",
        kid: "../../etc/passwd",
        jku: `${platform.origin}/evil`,
        x5u: platform.origin,
      };
      const jwk_ = await exportJWK(stranger.publicKey);
      const forged = await token(CLAIMS, { ...header, jwk: jwk_ }, stranger.privateKey);
      const verdicts = await Promise.all(Array.from({ length: 20 }, () => verify(forged, platform.over)));
      for (const verdict of verdicts)
        expect(verdict).toMatchObject({
          code: "jwt_signature",
          detail: "no key has its kid",
        });
      expect(platform.asked).toBeLessThanOrEqual(3);
      // The second look keeps its distance from the first.
      expect(performance.now() - begun).toBeGreaterThan(COOLDOWN - 100);
    }),
  );

  it("a JWK Set may hold several keys that fit a token without a `kid`", () =>
    withPlatform(async (platform) => {
      const [first, second] = [pair(), pair()];
      platform.keys = [await jwk("a", first.publicKey), await jwk("b", second.publicKey)];
      expect(await verify(await signed(undefined, second.privateKey), platform.over)).toHaveProperty("verified");
      expect(await verify(await signed(undefined, pair().privateKey), platform.over)).toMatchObject({
        code: "jwt_signature",
      });
    }));

  it("a JWK Set may hold more keys than the eight that are tried for one token", () =>
    withPlatform(async (platform) => {
      const pairs = Array.from({ length: 9 }, pair);
      platform.keys = await Promise.all(pairs.map(({ publicKey }, at) => jwk(`k${at}`, publicKey)));
      const [eighth, ninth] = [pairs[7], pairs[8]] as [(typeof pairs)[0], (typeof pairs)[0]];
      expect(await verify(await signed(undefined, eighth.privateKey), platform.over)).toHaveProperty("verified");
      const beyond = await signed(undefined, ninth.privateKey);
      expect(await verify(beyond, platform.over)).toMatchObject({ code: "jwt_signature" });
      expect(await verify(await signed("k8", ninth.privateKey), platform.over)).toHaveProperty("verified");
    }));

  it("a JWK Set that cannot be fetched is a failure of the receiver, not of the caller", () =>
    withPlatform(async (platform) => {
      platform.state = "down";
      const known = pair();
      expect(await verify(await signed("k", known.privateKey), platform.over)).toMatchObject({
        kind: "failed",
        code: "keys_unavailable",
      });
    }));

  it("a JWK Set serves its last keys while its address does not respond", () =>
    withPlatform(async (platform) => {
      const [known, unknown] = [pair(), pair()];
      platform.keys = [await jwk("known", known.publicKey)];
      expect(await verify(await signed("known", known.privateKey), platform.over)).toHaveProperty("verified");
      platform.state = "down";
      expect(await verify(await signed("known", known.privateKey), platform.over)).toHaveProperty("verified");
      platform.clock += COOLDOWN;
      // This one may be new, which only the address could tell.
      expect(await verify(await signed("new", unknown.privateKey), platform.over)).toMatchObject({
        code: "keys_unavailable",
      });
    }));

  it("a JWK Set is fetched again for a signature that no key made, since a platform may keep its `kid`", () =>
    withPlatform(async (platform) => {
      const [old, fresh] = [pair(), pair()];
      for (const kid of ["the-one", undefined]) {
        platform.keys = [await jwk("the-one", old.publicKey)];
        platform.clock += HOUR + 1;
        expect(await verify(await signed(kid, old.privateKey), platform.over)).toHaveProperty("verified");
        platform.keys = [await jwk("the-one", fresh.publicKey)];
        platform.clock += COOLDOWN;
        expect(await verify(await signed(kid, fresh.privateKey), platform.over)).toHaveProperty("verified");
        platform.clock += COOLDOWN;
        expect(await verify(await signed(kid, old.privateKey), platform.over)).toMatchObject({
          code: "jwt_signature",
        });
      }
    }));

  it("a JWK Set is not fetched for each forged signature", () =>
    withPlatform(async (platform) => {
      const known = pair();
      platform.keys = [await jwk("known", known.publicKey)];
      await verify(await signed("known", known.privateKey), platform.over);
      const forged = await signed("known", pair().privateKey);
      const refused = async () => expect(await verify(forged, platform.over)).toMatchObject({ code: "jwt_signature" });
      await refused();
      expect(platform.asked).toBe(1);
      platform.clock += COOLDOWN;
      await Promise.all(Array.from({ length: 20 }, refused));
      await refused();
      expect(platform.asked).toBe(2);
    }));

  it("a JWK Set that cannot be fetched is not fetched for each token", () =>
    withPlatform(async (platform) => {
      platform.state = "down";
      const forged = await signed("k", pair().privateKey);
      const unavailable = async () =>
        expect(await verify(forged, platform.over)).toMatchObject({ code: "keys_unavailable" });
      await Promise.all(Array.from({ length: 20 }, unavailable));
      for (let index = 0; index < 20; index += 1) await unavailable();
      expect(platform.asked).toBe(1);
      platform.clock += FAILURE;
      await unavailable();
      expect(platform.asked).toBe(2);
    }));

  it("an old JWK Set serves at once, while a new one is fetched from an address that hangs", () =>
    withPlatform(async (platform) => {
      const known = pair();
      platform.keys = [await jwk("known", known.publicKey)];
      const genuine = await signed("known", known.privateKey);
      await verify(genuine, platform.over);
      platform.state = "hanging";
      platform.clock += FRESH;
      for (let index = 0; index < 5; index += 1) {
        // Nothing is answered: a verdict can only come from the keys that are there.
        expect(await verify(genuine, platform.over)).toHaveProperty("verified");
      }
      await until(() => platform.asked === 2);
    }));

  it("bodies that wait for a JWK Set leave half of MAX_UNVERIFIED_BYTES to callbacks with a known key", () =>
    withPlatform(async (platform) => {
      const known = pair();
      platform.keys = [await jwk("known", known.publicKey)];
      const genuine = await signed("known", known.privateKey);
      const forged = await signed("unknown", pair().privateKey);
      await verify(genuine, platform.over);
      platform.state = "hanging";
      platform.clock += COOLDOWN;
      const bodies = new UnverifiedBodies(1_000, 100);
      const verdictOn = async (jwt: string) => {
        const body = bodies.begin("192.0.2.1", () => {});
        expect(body.reserve(100)).toBe(true);
        body.complete();
        const verdict = await verify(jwt, platform.over, undefined, body);
        body.release();
        return verdict;
      };
      const ended: unknown[] = [];
      for (let sent = 0; sent < 10; sent += 1) void verdictOn(forged).then((verdict) => ended.push(verdict));
      await until(() => ended.length === 5 && platform.asked === 2);
      expect(ended).toMatchObject(Array(5).fill({ kind: "failed", code: "keys_unavailable" }));
      expect(bodies.bytes).toBe(500);
      expect(await verdictOn(genuine)).toHaveProperty("verified");
    }));

  it(
    "a JWK Set is fetched after a quiet time before its keys, one of which may be withdrawn, are trusted",
    { tags: "full" },
    () =>
      withPlatform(async (platform) => {
        const [old, fresh] = [pair(), pair()];
        platform.keys = [await jwk("old", old.publicKey)];
        const genuine = await signed("old", old.privateKey);
        await verify(genuine, platform.over);
        platform.keys = [await jwk("new", fresh.publicKey)];
        platform.clock += HOUR + 1;
        expect(await verify(genuine, platform.over)).toMatchObject({ code: "jwt_signature" });
      }),
  );

  it("a JWK Set is fetched before old keys are trusted, also where an earlier fetch failed", { tags: "full" }, () =>
    withPlatform(async (platform) => {
      const [old, fresh] = [pair(), pair()];
      platform.keys = [await jwk("old", old.publicKey)];
      const genuine = await signed("old", old.privateKey);
      platform.state = "down";
      expect(await verify(genuine, platform.over)).toMatchObject({ code: "keys_unavailable" });
      platform.state = "up";
      platform.clock += FAILURE;
      expect(await verify(genuine, platform.over)).toHaveProperty("verified");
      platform.keys = [await jwk("new", fresh.publicKey)];
      platform.clock += HOUR + 1;
      expect(await verify(genuine, platform.over)).toMatchObject({ code: "jwt_signature" });
    }),
  );

  it("a JWK Set serves for a day without its address, and no longer", () =>
    withPlatform(async (platform) => {
      const known = pair();
      platform.keys = [await jwk("known", known.publicKey)];
      const genuine = await signed("known", known.privateKey);
      await verify(genuine, platform.over);
      platform.state = "down";
      platform.clock += 24 * HOUR - 1;
      expect(await verify(genuine, platform.over)).toHaveProperty("verified");
      platform.clock += 1;
      expect(await verify(genuine, platform.over)).toMatchObject({ code: "keys_unavailable" });
    }));

  it("a JWK Set is read up to a bound", () =>
    withPlatform(async (platform) => {
      const known = pair();
      platform.keys = [await jwk("known", known.publicKey), { kty: "x".repeat(2_000_000) }];
      expect(await verify(await signed("known", known.privateKey), platform.over)).toMatchObject({
        code: "keys_unavailable",
      });
    }));

  it("a JWK Set may hold an unusable key without an effect on the tokens of the others", () =>
    withPlatform(async (platform) => {
      const known = pair();
      const broken = { kty: "EC", crv: "P-256", x: "AAAA", y: "AAAA", kid: "broken" };
      platform.keys = [broken, await jwk("known", known.publicKey)];
      for (const kid of ["known", undefined])
        expect(await verify(await signed(kid, known.privateKey), platform.over)).toHaveProperty("verified");
      expect(await verify(await signed("broken", known.privateKey), platform.over)).toMatchObject({
        kind: "failed",
        code: "keys_unavailable",
      });
      expect(await verify(await signed("known", pair().privateKey), platform.over)).toMatchObject({
        code: "jwt_signature",
      });
    }));

  it("a JWK Set may hold an RSA key that is too short, which is not the token's fault", () =>
    withPlatform(async (platform) => {
      const short = generateKeyPairSync("rsa", { modulusLength: 1024 });
      platform.keys = [{ ...(await exportJWK(short.publicKey)), kid: "short" }];
      const [payload, signature] = ["e30", "AAAA"];
      const header = Buffer.from('{"alg":"RS256","kid":"short"}').toString("base64url");
      const over = { algorithm: "RS256", keys: platform.over.keys } as const;
      expect(await verify(`${header}.${payload}.${signature}`, over)).toMatchObject({
        code: "keys_unavailable",
      });
    }));
});
