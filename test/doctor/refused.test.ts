import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { checkAuthentication } from "../../src/doctor/run-doctor.ts";
import { REMEDIES } from "../../src/domain/index.ts";
import { signHmac } from "../../src/sources/index.ts";
import { hmac } from "../../src/sources/platforms/index.ts";
import { NEWEST_SCHEMA } from "../../src/store/index.ts";
import { checkDatabase } from "../support/check-database.ts";
import { describeFullOnPostgres, withDatabase } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { payment, SECRET, startReceiver, testConfig } from "../support/receiver.ts";

/** Whatever an unauthenticated sender can send without a secret. */
const FORGED: readonly { raw: string | Uint8Array<ArrayBuffer>; headers: Record<string, string> }[] = [
  { raw: "{}", headers: { "x-signature": createHash("sha256").update("{}").digest("hex") } },
  { raw: "{}", headers: { "x-signature": `${"0".repeat(64)},${"1".repeat(64)}` } },
  { raw: "{}", headers: { signature: "foo" } },
  { raw: new Uint8Array([0x7b, 0xff, 0x7d]), headers: { "x-signature": "0".repeat(64) } },
];

const NOON = "2026-06-15T12:00:00.000Z";

describeFullOnPostgres("doctor on %s", (dialect) => {
  it("doctor warns once of each confirmed diagnosis, and of none that unauthenticated senders can cause", () =>
    withDatabase(dialect, async (target) => {
      const receiver = await startReceiver(target, { clock: { now: () => new Date(NOON) } });
      const right = signHmac(SECRET, Buffer.from("{}"));
      for (const signature of [`v1=${right}`, `sha256=${right}`, right.toUpperCase(), "0".repeat(64), ""])
        await receiver.send({}, { raw: "{}", headers: { "x-signature": signature } });
      for (const { raw, headers } of FORGED)
        await fetch(`${receiver.publicOrigin}/api/platform/callback`, { method: "POST", body: raw, headers });
      await receiver.send(payment());
      await receiver.admin("/api/v1/callbacks");
      expect(await receiver.count("oncehook_callbacks", "diagnosis IS NOT NULL")).toBe(5 + FORGED.length);
      await receiver.stop();
      const findings = await checkDatabase(testConfig(target), [], new Date());
      expect(findings.filter(({ check }) => check === "refused")).toEqual([
        {
          level: "warning",
          check: "refused",
          message: `a refused callback of source platform among the newest 1000 in the log, at ${NOON} (encoding): The signature is in upper-case hexadecimal, expected lower case. The digest itself is correct. ${REMEDIES.encoding}`,
          remedy: REMEDIES.encoding,
        },
        {
          level: "warning",
          check: "refused",
          message: `2 refused callbacks of source platform among the newest 1000 in the log, the last one at ${NOON} (prefix): \`sha256=\` precedes the signature. The digest itself is correct. ${REMEDIES.prefix}`,
          remedy: REMEDIES.prefix,
        },
      ]);
    }));

  it("doctor warns of each source apart, with the time of its last refused callback", () =>
    withDatabase(dialect, async (target) => {
      let now = new Date(NOON);
      const shop = { signature: { header: "X-Signature", encoding: "hex" }, signed: "{body}" } as const;
      const of = (secret: string) => hmac({ ...shop, secret, id: "body.id", type: "body.type" });
      const sources = { shop: of("the secret of the shop"), inn: of("the secret of the inn") };
      const receiver = await startReceiver(target, { clock: { now: () => now }, sources });
      const body = Buffer.from("{}");
      const send = async (name: keyof typeof sources) => {
        const signature = sources[name].sign?.({ body, now })["X-Signature"] ?? "";
        const headers = { "x-signature": signature.toUpperCase() };
        await fetch(`${receiver.publicOrigin}/api/${name}/callback`, { method: "POST", body, headers });
      };
      await send("inn");
      await send("shop");
      now = new Date("2026-06-15T13:30:00Z");
      await send("shop");
      await receiver.admin("/api/v1/callbacks");
      await receiver.stop();
      const findings = await checkDatabase(testConfig(target), [], now);
      const warnings = findings.filter(({ check }) => check === "refused").map(({ message }) => message);
      expect(warnings).toEqual([
        expect.stringMatching(
          /^2 refused callbacks of source shop .*, the last one at 2026-06-15T13:30:00.000Z \(encoding\): /,
        ),
        expect.stringMatching(/^a refused callback of source inn .*, at 2026-06-15T12:00:00.000Z \(encoding\): /),
      ]);
    }));

  it("doctor ignores an older diagnosis that has no `confirmed`", () =>
    withDatabase(dialect, async (target) => {
      const receiver = await startReceiver(target);
      await receiver.send({}, { raw: "{}", headers: { "x-signature": "0".repeat(64) } });
      await receiver.admin("/api/v1/callbacks");
      await receiver.stop();
      const stored = '{"code":"other_header","message":"There is no X-Signature.","remedy":"Have it sent."}';
      await execute(target, `UPDATE oncehook_callbacks SET diagnosis = '${stored}'`);
      const findings = await checkDatabase(testConfig(target), [], new Date());
      expect(findings.filter(({ check }) => check === "refused")).toEqual([]);
    }));

  it("doctor fails for a database of a development schema, with the remedy", () =>
    withDatabase(dialect, async (target) => {
      await (await startReceiver(target)).stop();
      await execute(target, "ALTER TABLE oncehook_callbacks DROP COLUMN diagnosis");
      await execute(target, `UPDATE oncehook_schema SET number = number - ${NEWEST_SCHEMA - 13}`);
      const findings = await checkDatabase(testConfig(target), [], new Date());
      expect(findings).toEqual([
        {
          level: "failure",
          check: "database",
          message: expect.stringMatching(/^the database has schema 13, .* Use a new database:/),
        },
      ]);
    }));
});

describe("doctor", () => {
  it("doctor reports an unusable DIAGNOSE_SECRETS_FILE", async () => {
    const config = testConfig(
      { dialect: "sqlite", url: "sqlite:none.db" },
      { DIAGNOSE_SECRETS_FILE: "/nowhere/secrets" },
    );
    expect(await checkAuthentication(config)).toEqual([
      {
        level: "failure",
        check: "authentication",
        message: 'DIAGNOSE_SECRETS_FILE: got "/nowhere/secrets", which does not exist',
      },
    ]);
  });
});
