import { describe, expect, it } from "vitest";
import { checkAuthentication } from "../../src/app/doctor/check-authentication.ts";
import { checkDatabase } from "../../src/app/doctor/check-database.ts";
import { DIAGNOSES } from "../../src/domain/index.ts";
import { signHmac } from "../../src/verify/index.ts";
import { DIALECTS, withDatabase } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { payment, SECRET, startReceiver, testConfig } from "../support/receiver.ts";

describe.each(DIALECTS)("doctor on %s", (dialect) => {
  it("tells each cause once that keeps the platform out, and nothing that strangers bring about", () =>
    withDatabase(dialect, async (target) => {
      const receiver = await startReceiver(target);
      const right = signHmac(SECRET, Buffer.from("{}"));
      for (const signature of [`v1=${right}`, `sha256=${right}`, right.toUpperCase(), "0".repeat(64), ""])
        await receiver.send({}, { raw: "{}", headers: { "x-signature": signature } });
      await receiver.send(payment());
      await receiver.stop();
      const findings = await checkDatabase(testConfig(target), [], new Date());
      expect(findings.filter(({ about }) => about === "refused")).toEqual([
        {
          verdict: "warning",
          about: "refused",
          says: `a callback of the newest 1000 in the log (encoding): The signature is in upper-case hexadecimal. Otherwise it is right. ${DIAGNOSES.encoding.do}`,
        },
        {
          verdict: "warning",
          about: "refused",
          says: `2 callbacks of the newest 1000 in the log (prefix): \`sha256=\` stands before the signature. Otherwise it is right. ${DIAGNOSES.prefix.do}`,
        },
      ]);
    }));

  it("looks at a database from before there were diagnoses", () =>
    withDatabase(dialect, async (target) => {
      await (await startReceiver(target)).stop();
      await execute(target, "ALTER TABLE oncehook_callbacks DROP COLUMN diagnosis");
      await execute(target, "DELETE FROM oncehook_schema WHERE number >= 7");
      const findings = await checkDatabase(testConfig(target), [], new Date());
      expect(findings.map(({ about, verdict }) => [about, verdict])).toEqual([
        ["database", "ok"],
        ["secrets", "ok"],
      ]);
    }));
});

describe("doctor", () => {
  it("says that the file of DIAGNOSE_SECRETS_FILE cannot be used", async () => {
    const config = testConfig(
      { dialect: "sqlite", url: "sqlite:none.db" },
      { DIAGNOSE_SECRETS_FILE: "/nowhere/secrets" },
    );
    expect(await checkAuthentication(config)).toEqual([
      {
        verdict: "failure",
        about: "authentication",
        says: 'DIAGNOSE_SECRETS_FILE: got "/nowhere/secrets", which does not exist',
      },
    ]);
  });
});
