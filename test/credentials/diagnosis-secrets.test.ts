import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import { readDiagnosisSecrets } from "../../src/credentials/diagnosis-secrets.ts";
import { BASE, PRODUCTION } from "../support/configuration.ts";
import { withFolder } from "../support/folder.ts";

/** What is read of a file with this text, or what is wrong with it. */
function read(text: string, { env = BASE, mode = 0o600 }: { env?: Record<string, string>; mode?: number } = {}) {
  return withFolder(async (folder) => {
    const file = join(folder, "secrets");
    await writeFile(file, text);
    await chmod(file, mode);
    const config = loadConfig({ ...env, DIAGNOSE_SECRETS_FILE: file });
    return readDiagnosisSecrets(config).catch((error: Error) => error.message.replace(file, "FILE"));
  });
}

describe("the file of DIAGNOSE_SECRETS_FILE", () => {
  it("DIAGNOSE_SECRETS_FILE names one secret a line", async () => {
    const text = "# of others\n\ntest=the-secret-of-test\r\nprevious-2024=with=signs=in=it\n";
    expect(await read(text)).toEqual([
      { name: "test", secret: "the-secret-of-test" },
      { name: "previous-2024", secret: "with=signs=in=it" },
    ]);
  });

  it("no secrets are read without DIAGNOSE_SECRETS_FILE", async () => {
    expect(await readDiagnosisSecrets(loadConfig(BASE))).toEqual([]);
  });

  it.each([
    ["no-name", "whose line 1 is not name=secret"],
    ["test=", "whose line 1 has a secret of less than 8 bytes"],
    ["\ntest= the-secret-of-test", "whose line 2 has white space around its secret"],
    ["test=the-secret-of-test\ntest=another-secret", "whose line 2 has the name of a line before it"],
    [`test=${BASE.SIGNING_SECRET}`, "whose line 1 is in use here, expected one of another environment"],
    ["production=the-secret-of-production", "whose line 1 names production; put the other environments' secrets"],
    [
      Array.from({ length: 17 }, (_, index) => `e${index}=the-secret-of-${index}`).join("\n"),
      "which has 17 secrets, expected at most 16",
    ],
  ])("a wrong line of DIAGNOSE_SECRETS_FILE is refused by its number, without its text: %s", async (text, says) => {
    const problem = String(await read(text));
    expect(problem).toContain('DIAGNOSE_SECRETS_FILE: got "FILE", ');
    expect(problem).toContain(says);
    expect(problem).not.toMatch(/the-secret-of-|a-secret-of-some-length/);
  });

  it("DIAGNOSE_SECRETS_FILE may name production in production", async () => {
    expect(await read("production-2024=the-former-secret", { env: PRODUCTION })).toHaveLength(1);
  });

  it.each([0o644, 0o660, 0o604])(
    "a DIAGNOSE_SECRETS_FILE that others can read, or its group can change, is refused: %o",
    async (mode) => {
      expect(await read("test=the-secret-of-test", { mode })).toContain(
        "which others can read or change, expected mode 0600 or 0640: chmod 600",
      );
    },
  );

  it("a DIAGNOSE_SECRETS_FILE for its owner or group is read, and a missing one is refused", async () => {
    for (const mode of [0o400, 0o600, 0o440, 0o640])
      expect(await read("test=the-secret-of-test", { mode })).toHaveLength(1);
    const config = loadConfig({ ...BASE, DIAGNOSE_SECRETS_FILE: "/nowhere/secrets" });
    await expect(readDiagnosisSecrets(config)).rejects.toThrow('got "/nowhere/secrets", which does not exist');
  });
});
