import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { github } from "../../src/sources/platforms/index.ts";
import { checkDatabase } from "../support/check-database.ts";
import { type Dialect, describeFullOnPostgres, type Target, withDatabase } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { inspectTarget } from "../support/inspect-target.ts";
import { payment, startReceiver, type TestReceiver, testConfig } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const [A, B] = ["the-first-secret-of-32-bytes-long", "the-second-secret-of-32-bytes-too"];
const TOKENS = ["the-token-of-this-year", "the-token-of-last-year", "the-token-before-that"];
const day = (number: number) => new Date(Date.UTC(2026, 0, number));
type Env = Record<string, string>;

/** A receiver runs on these days with this configuration, and `use` calls it. */
async function run(
  target: Target,
  env: Env,
  now: Date,
  use: (receiver: TestReceiver) => Promise<void> = async () => undefined,
) {
  const receiver = await startReceiver(target, { env, clock: { now: () => now } });
  try {
    await use(receiver);
  } finally {
    await receiver.stop();
  }
}

/** Sends a callback and waits until the use of its secret is noted. */
async function use(target: Target, now: Date, send: () => Promise<{ status: number }>) {
  const noted = async () => {
    const found = await inspectTarget(target);
    const at = now.toISOString();
    return found.exists ? found.credentialUses.filter(({ lastUsedAt }) => lastUsedAt === at).length : 0;
  };
  const before = await noted();
  expect((await send()).status).toBe(200);
  await until(async () => (await noted()) > before);
}

async function says(target: Target, env: Env, now: Date): Promise<string[]> {
  const findings = await checkDatabase(testConfig(target, env), ["log"], now);
  return findings.filter(({ check }) => check === "secrets").map(({ message }) => message);
}

const signed = (secret: string, now: Date) => (receiver: TestReceiver) =>
  use(receiver.target, now, () => receiver.send(payment(), { secret }));

describeFullOnPostgres("doctor on %s", (dialect) => {
  it("doctor advises on the previous secret of another platform, by its variable", () =>
    withDatabase(dialect, async (target) => {
      const env = { SOURCES: "github", GITHUB_SECRET: B, GITHUB_SECRET_PREVIOUS: A };
      const push = (receiver: TestReceiver) => {
        const body = Buffer.from(JSON.stringify({ ref: "main" }));
        const signed = github({ secret: B }).sign?.({ body, now: day(2) });
        const headers = { "x-github-event": "push", "x-github-delivery": "d1", ...signed };
        const url = `${receiver.publicOrigin}/api/github/callback`;
        return use(target, day(2), () => fetch(url, { method: "POST", body, headers }));
      };
      await run(target, env, day(2), push);
      const name = "GITHUB_SECRET_PREVIOUS";
      expect(await says(target, env, day(3))).toEqual([expect.stringMatching(`^${name}: keep it; `)]);
      expect(await says(target, env, day(20))).toEqual([
        expect.stringMatching(`^${name}: (?!keep it).*${day(2).toISOString()}`),
      ]);
    }));

  it("doctor reports a previous secret as unused after a week without use, and not before", () =>
    withDatabase(dialect, async (target) => {
      const env = { SIGNING_SECRET: B, SIGNING_SECRET_PREVIOUS: A };
      const name = "SIGNING_SECRET_PREVIOUS";
      await run(target, { SIGNING_SECRET: A }, day(1), signed(A, day(1)));
      expect(await says(target, env, day(30))).toEqual([
        `${name}: keep it; the receiver has not started with it as a previous one yet`,
      ]);
      await run(target, env, day(2));
      expect(await says(target, env, day(30))).toEqual([
        `${name}: keep it; the platform has not used the new one since ${day(2).toISOString()}`,
      ]);
      await run(target, env, day(3), signed(B, day(3)));
      expect(await says(target, env, day(8))).toEqual([
        `${name}: keep it; it was not used since ${day(2).toISOString()}, less than 7 days ago`,
      ]);
      await run(target, env, day(8), signed(A, day(8)));
      expect(await says(target, env, day(14))).toEqual([
        `${name}: keep it; it was last used at ${day(8).toISOString()}, less than 7 days ago`,
      ]);
      expect(await says(target, env, day(15))).toEqual([
        `${name}: can go; it was last used at ${day(8).toISOString()}, 7 days ago`,
      ]);
    }));
});

describe("doctor", () => {
  const onSqlite = (test: (target: Target) => Promise<void>) => withDatabase("sqlite" as Dialect, test);

  it(
    "doctor does not report a secret as unused that was in daily use until its rotation was undone",
    { tags: "full" },
    () =>
      onSqlite(async (target) => {
        const [forth, back] = [
          { SIGNING_SECRET: B, SIGNING_SECRET_PREVIOUS: A },
          { SIGNING_SECRET: A, SIGNING_SECRET_PREVIOUS: B },
        ];
        await run(target, { SIGNING_SECRET: A }, day(1), signed(A, day(1)));
        await run(target, forth, day(2), signed(B, day(2)));
        await run(target, forth, day(20), signed(B, day(20)));
        await run(target, back, day(20), signed(A, day(20)));
        expect(await says(target, back, day(21))).toEqual([expect.stringContaining("keep it")]);
        expect(await says(target, back, day(27))).toEqual([expect.stringContaining("can go")]);
      }),
  );

  it("doctor names the previous token that is in use, without showing one", () =>
    onSqlite(async (target) => {
      const env = {
        AUTH_METHOD: "token",
        CALLBACK_TOKEN: TOKENS[0] as string,
        CALLBACK_TOKEN_PREVIOUS: TOKENS.slice(1).join(","),
      };
      await run(target, env, day(1));
      for (const token of [TOKENS[0], TOKENS[2]])
        await run(target, env, day(9), (receiver) =>
          use(target, day(9), () => receiver.send(payment(), { headers: { "x-callback-token": token as string } })),
        );
      expect(await says(target, env, day(10))).toEqual([
        `CALLBACK_TOKEN_PREVIOUS, 1 of 2: can go; it was not used since ${day(1).toISOString()}, 9 days ago`,
        `CALLBACK_TOKEN_PREVIOUS, 2 of 2: keep it; it was last used at ${day(9).toISOString()}, less than 7 days ago`,
      ]);
      const { CALLBACK_TOKEN_PREVIOUS: _list, ...others } = env;
      const shorter = { ...others, CALLBACK_TOKEN_PREVIOUS: TOKENS[2] as string };
      await run(target, shorter, day(11));
      expect(await says(target, shorter, day(12))).toEqual([
        `CALLBACK_TOKEN_PREVIOUS: keep it; it was last used at ${day(9).toISOString()}, less than 7 days ago`,
      ]);
    }));

  it("doctor keeps a previous secret for as long as its platform delivers again, where that is above a week", () =>
    onSqlite(async (target) => {
      const [current, previous] = ["0a".repeat(32), "0b".repeat(32)];
      // Adyen delivers an event again for 30 days.
      const env = { SOURCES: "adyen", ADYEN_SECRET: current, ADYEN_SECRET_PREVIOUS: previous };
      await run(target, env, day(1));
      const name = "ADYEN_SECRET_PREVIOUS";
      const method = "source:adyen";
      await execute(
        target,
        `UPDATE oncehook_credential_uses SET last_used_at = '${day(2).toISOString()}'
        WHERE method = '${method}' AND previous_since IS NULL`,
      );
      const since = `it was not used since ${day(1).toISOString()}`;
      expect(await says(target, env, day(30))).toEqual([`${name}: keep it; ${since}, less than 30 days ago`]);
      expect(await says(target, env, day(31))).toEqual([`${name}: can go; ${since}, 30 days ago`]);
    }));

  it("doctor counts again under another ENCRYPTION_KEY instead of reporting a secret as unused", () =>
    onSqlite(async (target) => {
      const env = { SIGNING_SECRET: B, SIGNING_SECRET_PREVIOUS: A };
      await run(target, env, day(1), signed(A, day(1)));
      const key = (byte: number) => Buffer.alloc(32, byte).toString("base64");
      const rotated = { ...env, ENCRYPTION_KEY: key(8), ENCRYPTION_KEY_PREVIOUS: key(7) };
      await run(target, rotated, day(2), signed(B, day(2)));
      expect(await says(target, rotated, day(8))).toEqual([expect.stringContaining("keep it")]);
      expect(await says(target, rotated, day(9))).toEqual([expect.stringContaining("can go")]);
    }));

  it("doctor reports for each of several PEM keys whether it is in use", () =>
    onSqlite(async (target) => {
      const folder = await mkdtemp(join(tmpdir(), "oncehook-keys-"));
      try {
        const pairs = [1, 2].map(() => generateKeyPairSync("ed25519"));
        const pem = pairs.map(({ publicKey }) => publicKey.export({ type: "spki", format: "pem" })).join("");
        const file = join(folder, "keys.pem");
        await writeFile(file, pem);
        const env = { ...JWT, JWT_ALGORITHM: "EdDSA", JWT_PUBLIC_KEY_FILE: file };
        for (const { privateKey } of pairs)
          await run(target, env, day(2), async (receiver) => {
            const headers = { authorization: `Bearer ${await jwt(privateKey, day(2))}` };
            await use(target, day(2), () => receiver.send(payment(), { headers }));
          });
        expect(await says(target, env, day(3))).toEqual([
          `JWT_PUBLIC_KEY_FILE, key 2 of 2: keep it; it was not used since ${day(2).toISOString()}, less than 7 days ago`,
        ]);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }));

  it("doctor reports that the platform rotates the keys of a JWK Set", () =>
    onSqlite(async (target) => {
      const env = { ...JWT, JWT_ALGORITHM: "EdDSA", JWT_JWKS_URL: "http://127.0.0.1:1/jwks" };
      await run(target, env, day(1));
      expect(await says(target, env, day(2))).toEqual([
        "JWT_JWKS_URL: the platform rotates its keys there by itself; nothing to do here",
      ]);
    }));
});

const JWT = { AUTH_METHOD: "jwt", JWT_ISSUER: "https://platform.example", JWT_AUDIENCE: "oncehook" };
const jwt = (key: KeyObject, now: Date) =>
  new SignJWT({ exp: Math.floor(now.getTime() / 1000) + 60 })
    .setProtectedHeader({ alg: "EdDSA" })
    .setIssuer(JWT.JWT_ISSUER)
    .setAudience(JWT.JWT_AUDIENCE)
    .sign(key);
