import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { checkDatabase } from "../../src/app/doctor/check-database.ts";
import { checkAuthentication } from "../../src/app/doctor/run-doctor.ts";
import { DIAGNOSES } from "../../src/domain/index.ts";
import { signHmac } from "../../src/sources/index.ts";
import { NEWEST_SCHEMA } from "../../src/store/index.ts";
import { DIALECTS, withDatabase } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { payment, SECRET, startReceiver, testConfig } from "../support/receiver.ts";

/** What whoever finds the address can send, without a secret. */
const FORGED: readonly { raw: string | Uint8Array<ArrayBuffer>; headers: Record<string, string> }[] = [
  { raw: "{}", headers: { "x-signature": createHash("sha256").update("{}").digest("hex") } },
  { raw: "{}", headers: { "x-signature": `${"0".repeat(64)},${"1".repeat(64)}` } },
  { raw: "{}", headers: { signature: "foo" } },
  { raw: new Uint8Array([0x7b, 0xff, 0x7d]), headers: { "x-signature": "0".repeat(64) } },
];

describe.each(DIALECTS)("doctor on %s", (dialect) => {
  it("doctor warns once of each confirmed diagnosis, and of none that strangers can cause", () =>
    withDatabase(dialect, async (target) => {
      const receiver = await startReceiver(target);
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
          message: `a callback of the newest 1000 in the log (encoding): The signature is in upper-case hexadecimal. The digest itself is correct. ${DIAGNOSES.encoding.remedy}`,
        },
        {
          level: "warning",
          check: "refused",
          message: `2 callbacks of the newest 1000 in the log (prefix): \`sha256=\` precedes the signature. The digest itself is correct. ${DIAGNOSES.prefix.remedy}`,
        },
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
