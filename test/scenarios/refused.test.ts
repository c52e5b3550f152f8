import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compileCandidates } from "../../src/sources/diagnose/candidates.ts";
import { compileOffered } from "../../src/sources/diagnose/offered.ts";
import { platformHmac } from "../../src/sources/index.ts";
import { createDigester } from "../../src/sources/schemes/keyed-digest.ts";
import {
  BODY,
  CURRENT,
  mac,
  PREVIOUS,
  REFUSED_CASES,
  RETIRED,
  type RefusedCase,
  TEST,
} from "../sources/schemes/refused-cases.ts";
import { type DIALECTS, describeFullOnPostgres } from "../support/databases.ts";
import { withFolder } from "../support/folder.ts";
import { POSTED } from "../support/posted.ts";
import { payment, SECRET, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

interface Row {
  readonly outcome: string;
  readonly diagnosis: { readonly code: string; readonly message: string; readonly remedy: string } | null;
}

async function rows(receiver: TestReceiver): Promise<Row[]> {
  return (await receiver.admin("/api/v1/callbacks?limit=200")).body.items as Row[];
}

async function diagnosed(receiver: TestReceiver, code: string): Promise<number> {
  const { text } = (await receiver.admin("/metrics")).body as { text: string };
  const [, count] =
    new RegExp(`^oncehook_signature_diagnoses_total\\{source="platform",code="${code}"\\} (\\d+)$`, "m").exec(text) ??
    [];
  return Number(count);
}

/** Starts a receiver that knows the secrets of other environments. */
function withSecrets<T>(dialect: (typeof DIALECTS)[number], use: (receiver: TestReceiver) => Promise<T>): Promise<T> {
  return withFolder(async (folder) => {
    const file = join(folder, "secrets");
    await writeFile(file, `# of others\n\ntest=${TEST}\nprevious-2024=${RETIRED}\n`, { mode: 0o600 });
    const env = { SIGNING_SECRET: CURRENT, SIGNING_SECRET_PREVIOUS: PREVIOUS, DIAGNOSE_SECRETS_FILE: file };
    return withReceiver(dialect, use, { env });
  });
}

describeFullOnPostgres("a refused callback on %s", (dialect) => {
  it("a refused callback has its diagnosis in its log entry, and gets the same response as every other one", () =>
    withSecrets(dialect, async (receiver) => {
      const send = (signature: string) => receiver.send({}, { raw: BODY, headers: { "x-signature": signature } });
      const responses = [await send(`sha256=${mac(BODY)}`), await send(mac(BODY, TEST)), await send("0".repeat(64))];
      expect(responses.map(({ status, body }) => [status, body])).toEqual(
        responses.map(() => [401, { error: "invalid signature" }]),
      );
      const [unknown, other, prefix] = await rows(receiver);
      expect(prefix).toMatchObject({
        outcome: "signature_malformed",
        diagnosis: {
          code: "prefix",
          message: "`sha256=` precedes the signature. The digest itself is correct.",
          confirmed: true,
        },
      });
      expect(other).toMatchObject({
        outcome: "signature_mismatch",
        diagnosis: { code: "other_environment" },
      });
      expect(unknown?.diagnosis).toMatchObject({
        code: "unknown",
        remedy: expect.stringContaining("oncehook sign"),
      });
    }));

  it("a refused callback is counted by its diagnosis, and causes one warning a minute with the remedy", () =>
    withSecrets(dialect, async (receiver) => {
      for (const signature of [mac(BODY, RETIRED), mac(BODY, RETIRED), mac(BODY, "q".repeat(32))])
        await receiver.send({}, { raw: BODY, headers: { "x-signature": signature } });
      await until(async () => (await diagnosed(receiver, "unknown")) === 1);
      expect(await diagnosed(receiver, "previous_secret")).toBe(2);
      expect(await diagnosed(receiver, "prefix")).toBe(0);
      const warned = receiver.lines.filter(({ msg }) => String(msg).includes("refused as not authentic"));
      expect(warned).toMatchObject([
        { level: 40, diagnosis: "previous_secret", msg: expect.stringContaining("SIGNING_SECRET_PREVIOUS") },
        { level: 40, diagnosis: "unknown" },
      ]);
    }));

  it("an authentic callback has no diagnosis, nor has one that another cause refused", () =>
    withReceiver(dialect, async (receiver) => {
      await receiver.send(payment());
      await receiver.send({}, { raw: "{" });
      expect((await rows(receiver)).map(({ diagnosis }) => diagnosis)).toEqual([null, null]);
    }));
});

describe("the diagnosis of a refused callback", () => {
  it("the diagnosis says how far a timestamp is from the clock", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const late = String(Math.floor(Date.now() / 1_000) - 3_600);
        await receiver.send(payment(), { headers: { "x-timestamp": late } });
        const [row] = await rows(receiver);
        expect(row).toMatchObject({ outcome: "timestamp_stale", diagnosis: { code: "timestamp" } });
        expect(row?.diagnosis?.message).toMatch(/`X-Timestamp`: 360\d s ago, expected at most 300 s/);
      },
      { env: { SIGNATURE_TOLERANCE_SECONDS: "300" } },
    ));

  it("the diagnosis says that a correct token has other text around it", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        await receiver.send(payment(), {
          headers: { "x-callback-token": "Bearer the-token-the-platform-sends" },
        });
        expect(await rows(receiver)).toMatchObject([{ diagnosis: { code: "token_mismatch", confirmed: true } }]);
      },
      { env: { AUTH_METHOD: "token", CALLBACK_TOKEN: "the-token-the-platform-sends" } },
    ));

  it("the diagnosis is left out for a body of more than 1 MiB, and past ten small bodies or 128 KiB a second", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const forge = (raw: string) => receiver.send({}, { raw, secret: "q".repeat(32) });
        const text = (bytes: number) => JSON.stringify({ text: "x".repeat(bytes) });
        const leftOut = async (where: string) => {
          await receiver.admin("/api/v1/callbacks");
          return receiver.count("oncehook_callbacks", `${where} AND diagnosis IS NULL`);
        };
        await forge(text(1_048_577));
        expect(await leftOut("true")).toBe(1);
        await Promise.all(Array.from({ length: 20 }, () => forge(text(60_000))));
        expect(await leftOut("true")).toBeGreaterThan(5);
        await Promise.all(Array.from({ length: 150 }, () => forge("[]")));
        expect(await leftOut("request_body = '[]'")).toBeGreaterThan(10);
        expect(await receiver.count("oncehook_callbacks", "diagnosis IS NOT NULL")).toBeGreaterThanOrEqual(5);
      },
      { env: { MAX_BODY_BYTES: "2097152" } },
    ));
});

/** Every digest that a diagnosis may have computed, in each encoding. */
function computed(cases: readonly RefusedCase[]): Set<string> {
  const found = new Set<string>();
  for (const { headers = {}, body = BODY } of cases) {
    const distinct = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()]));
    const named = [
      { name: "test", secret: TEST },
      { name: "previous", secret: RETIRED },
    ];
    const candidatesFor = compileCandidates(platformHmac(null), {
      ...{ name: "platform", title: "the platform", isOwn: false, named, otherSources: [] },
      ...{ secrets: () => [CURRENT, PREVIOUS], secretName: () => "SIGNING_SECRET" },
    });
    const { timestamp } = compileOffered(platformHmac(null))(distinct);
    const request = { ...POSTED, headers: distinct, body: Buffer.from(body) };
    for (const { key, content } of candidatesFor(request, timestamp))
      for (const encoding of ["hex", "base64", "base64url"] as const)
        found.add(createDigester("sha256", key)(content).toString(encoding));
  }
  return found;
}

it(
  "a receiver writes no digest that a diagnosis computed, whether it was right or not",
  { tags: "full", timeout: 60_000 },
  () =>
    withSecrets("sqlite", async (receiver) => {
      // The receiver does not have the secrets of the other cases.
      const cases = REFUSED_CASES.filter(({ accepted }) => accepted === undefined);
      const written: unknown[] = [];
      const send = async ({ headers = {}, body = BODY }: RefusedCase) => {
        const sent = new Headers({ "content-type": "application/json" });
        for (const [name, values] of Object.entries(headers))
          for (const value of [values].flat()) sent.append(name, value);
        const url = `${receiver.publicOrigin}/api/platform/callback`;
        const response = await fetch(url, { method: "POST", body: Buffer.from(body), headers: sent });
        expect(response.status).toBe(401);
        written.push(await response.text(), [...response.headers]);
      };
      for (const one of cases) {
        // Each second has a budget: until this one was diagnosed too.
        await until(async () => {
          await send(one);
          const [newest] = await rows(receiver);
          return newest?.diagnosis !== null;
        });
      }
      written.push(await rows(receiver), (await receiver.admin("/metrics")).body, receiver.lines);
      const everything = JSON.stringify(written);
      expect(everything).toContain("signature_mismatch");
      const digests = computed(cases);
      expect(digests.size).toBeGreaterThan(500);
      const words = everything.match(/[A-Za-z0-9+/_=-]{22,}/g) ?? [];
      expect(words.filter((word) => digests.has(word) || digests.has(word.toLowerCase()))).toEqual([]);
      for (const secret of [CURRENT, PREVIOUS, TEST, RETIRED, SECRET]) expect(everything.includes(secret)).toBe(false);
    }),
);
