import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { candidatesFor } from "../../src/sources/diagnose/candidates.ts";
import { ALGORITHMS } from "../../src/sources/diagnose/digest.ts";
import { bodyTextOf } from "../../src/sources/diagnose/json-text.ts";
import { offeredSignature } from "../../src/sources/diagnose/offered-signature.ts";
import { WorkBudget } from "../../src/sources/diagnose/work-budget.ts";
import { REFUSED_CASES } from "../sources/all-cases.ts";
import { BODY, CURRENT, mac, PREVIOUS, RETIRED, type RefusedCase, TEST } from "../sources/refused-cases.ts";
import { DIALECTS } from "../support/databases.ts";
import { withFolder } from "../support/folder.ts";
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
    new RegExp(`^oncehook_signature_diagnoses_total\\{code="${code}"\\} (\\d+)$`, "m").exec(text) ?? [];
  return Number(count);
}

/** Lends a receiver that knows the secrets of other environments. */
function withSecrets<T>(
  dialect: (typeof DIALECTS)[number],
  use: (receiver: TestReceiver) => Promise<T>,
): Promise<T> {
  return withFolder(async (folder) => {
    const file = join(folder, "secrets");
    await writeFile(file, `# of others\n\ntest=${TEST}\nprevious-2024=${RETIRED}\n`, { mode: 0o600 });
    const env = { SIGNING_SECRET: CURRENT, SIGNING_SECRET_PREVIOUS: PREVIOUS, DIAGNOSE_SECRETS_FILE: file };
    return withReceiver(dialect, use, { env });
  });
}

describe.each(DIALECTS)("a callback that is not authentic on %s", (dialect) => {
  it("has in its row why, and is answered as every other one", () =>
    withSecrets(dialect, async (receiver) => {
      const send = (signature: string) =>
        receiver.send({}, { raw: BODY, headers: { "x-signature": signature } });
      const answers = [
        await send(`sha256=${mac(BODY)}`),
        await send(mac(BODY, TEST)),
        await send("0".repeat(64)),
      ];
      expect(answers.map(({ status, body }) => [status, body])).toEqual(
        answers.map(() => [401, { error: "invalid signature" }]),
      );
      const [unknown, other, prefix] = await rows(receiver);
      expect(prefix).toMatchObject({
        outcome: "signature_malformed",
        diagnosis: {
          code: "prefix",
          message: "`sha256=` stands before the signature. Otherwise it is right.",
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

  it("is counted by what was found, and told of in the log once a minute with what to do", () =>
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

  it("that is, or is refused for another cause, has no diagnosis", () =>
    withReceiver(dialect, async (receiver) => {
      await receiver.send(payment());
      await receiver.send({}, { raw: "{" });
      expect((await rows(receiver)).map(({ diagnosis }) => diagnosis)).toEqual([null, null]);
    }));
});

describe("the diagnosis of a callback", () => {
  it("tells how far a timestamp lies from the clock", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const late = String(Math.floor(Date.now() / 1_000) - 3_600);
        await receiver.send(payment(), { headers: { "x-timestamp": late } });
        const [row] = await rows(receiver);
        expect(row).toMatchObject({ outcome: "timestamp_stale", diagnosis: { code: "stale" } });
        expect(row?.diagnosis?.message).toMatch(
          /lies 360\d s behind this machine's clock, and 300 s are allowed/,
        );
      },
      { env: { SIGNATURE_TOLERANCE_SECONDS: "300" } },
    ));

  it("tells what surrounds a token that is right", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        await receiver.send(payment(), {
          headers: { "x-callback-token": "Bearer the-token-the-platform-sends" },
        });
        expect(await rows(receiver)).toMatchObject([{ diagnosis: { code: "token_spelling" } }]);
      },
      { env: { AUTH_METHOD: "token", CALLBACK_TOKEN: "the-token-the-platform-sends" } },
    ));

  it("is left out for a body of more than 64 KiB, and past so many a second, or so many bytes", () =>
    withReceiver("sqlite", async (receiver) => {
      const forge = (raw: string) => receiver.send({}, { raw, secret: "q".repeat(32) });
      const text = (bytes: number) => JSON.stringify({ text: "x".repeat(bytes) });
      const left = async (where: string) => {
        await receiver.admin("/api/v1/callbacks");
        return receiver.count("oncehook_callbacks", `${where} AND diagnosis IS NULL`);
      };
      await forge(text(65_536));
      expect(await left("true")).toBe(1);
      await Promise.all(Array.from({ length: 20 }, () => forge(text(60_000))));
      expect(await left("true")).toBeGreaterThan(5);
      await Promise.all(Array.from({ length: 150 }, () => forge("[]")));
      expect(await left("request_body NOT LIKE '%xxx%'")).toBeGreaterThan(10);
      expect(await receiver.count("oncehook_callbacks", "diagnosis IS NOT NULL")).toBeGreaterThan(5);
    }));
});

/** Every digest that a diagnosis may have computed, but for the plain hash of the body, which a row may have. */
function computed(cases: readonly RefusedCase[]): Set<string> {
  const found = new Set<string>();
  for (const { headers = {}, body = BODY } of cases) {
    const distinct = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value].flat()]),
    );
    const bytes = Buffer.from(body);
    const suspect = {
      headers: distinct,
      body: bytes,
      method: "POST",
      url: "https://127.0.0.1/api/platform/callback",
    };
    const secrets = {
      accepted: [CURRENT, PREVIOUS],
      named: [
        { name: "test", secret: TEST },
        { name: "previous", secret: RETIRED },
      ],
    };
    const { claims } = offeredSignature(distinct);
    const text = bodyTextOf(bytes, new WorkBudget());
    for (const candidate of candidatesFor(suspect, secrets, claims, text)) {
      if (candidate === undefined) continue;
      const names = Object.values(ALGORITHMS).map(({ name }) => name);
      for (const name of candidate.algorithm === undefined ? names : [candidate.algorithm]) {
        const digest = Buffer.from(candidate.digest(name));
        for (const encoding of ["hex", "base64", "base64url"] as const) found.add(digest.toString(encoding));
      }
    }
    for (const { name } of Object.values(ALGORITHMS))
      found.delete(createHash(name).update(bytes).digest("hex"));
  }
  return found;
}

describe("what a receiver writes", () => {
  // Of those with secrets of their own the receiver knows nothing.
  const cases = REFUSED_CASES.filter(({ accepted }) => accepted === undefined);
  const quarters = [0, 1, 2, 3].map((part) => cases.filter((_, index) => index % 4 === part));

  it.each(quarters.map((part, index) => [index + 1, part] as const))(
    "holds no digest that a diagnosis computed, be it right or not: part %i of 4",
    (_part, some) =>
      withSecrets("sqlite", async (receiver) => {
        const written: unknown[] = [];
        for (const { headers = {}, body = BODY } of some) {
          const sent = new Headers({ "content-type": "application/json" });
          for (const [name, values] of Object.entries(headers))
            for (const value of [values].flat()) sent.append(name, value);
          // So many a second are looked into: until there is time for this one.
          await until(async () => {
            const url = `${receiver.publicOrigin}/api/platform/callback`;
            const answer = await fetch(url, { method: "POST", body: Buffer.from(body), headers: sent });
            expect(answer.status).toBe(401);
            written.push(await answer.text(), [...answer.headers]);
            const [newest] = await rows(receiver);
            return newest?.diagnosis !== null;
          });
        }
        written.push(await rows(receiver), (await receiver.admin("/metrics")).body, receiver.lines);
        const everything = JSON.stringify(written);
        expect(everything).toContain("signature_mismatch");
        const digests = computed(some);
        expect(digests.size).toBeGreaterThan(1_000);
        const words = everything.match(/[A-Za-z0-9+/_=-]{22,}/g) ?? [];
        expect(words.filter((word) => digests.has(word) || digests.has(word.toLowerCase()))).toEqual([]);
        for (const secret of [CURRENT, PREVIOUS, TEST, RETIRED, SECRET])
          expect(everything.includes(secret)).toBe(false);
      }),
    120_000,
  );
});
