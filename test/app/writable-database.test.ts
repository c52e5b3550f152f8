import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runDoctor } from "../../src/app/index.ts";
import { writableByOthersWarnings } from "../../src/configured/database.ts";
import { checkDatabase } from "../support/check-database.ts";
import { PRODUCTION } from "../support/configuration.ts";
import { withFolder } from "../support/folder.ts";
import { startReceiver, testConfig } from "../support/receiver.ts";

const targetIn = (folder: string) => ({
  dialect: "sqlite" as const,
  url: `sqlite:${join(folder, "hook.db")}`,
});
const PRODUCED = {
  ...PRODUCTION,
  HANDLERS: "none",
  OAUTH_TOKEN_URL: "",
  OAUTH_CLIENT_ID: "",
  OAUTH_CLIENT_SECRET: "",
};

describe("a database that every user of the machine may write", () => {
  it.each([
    ["its folder", "data", 0o777],
    ["its folder, sticky", "data", 0o1777],
    ["a folder above it", ".", 0o757],
    ["the file", "data/hook.db", 0o666],
    ["its log", "data/hook.db-wal", 0o622],
  ])("doctor finds such a database by the mode of %s", (_, name, mode) =>
    withFolder(async (root) => {
      const data = join(root, "data");
      await mkdir(data, { mode: 0o700 });
      for (const file of ["hook.db", "hook.db-wal"]) await writeFile(join(data, file), "", { mode: 0o600 });
      const config = testConfig(targetIn(data));
      expect(writableByOthersWarnings(config)).toEqual([]);
      await chmod(join(root, name), mode);
      expect(writableByOthersWarnings(config)).toEqual([expect.stringContaining(`Run: chmod o-w ${join(root, name)}`)]);
    }),
  );

  it.each([
    ["of the link", "."],
    ["that it leads to", "data"],
  ])("doctor finds a link to a database whose folder %s others may write", (_, name) =>
    withFolder(async (root) => {
      const data = join(root, "data");
      await mkdir(data, { mode: 0o700 });
      await writeFile(join(data, "real.db"), "", { mode: 0o600 });
      await symlink(join(data, "real.db"), join(root, "hook.db"));
      const config = testConfig(targetIn(root));
      expect(writableByOthersWarnings(config)).toEqual([]);
      await chmod(join(root, name), 0o777);
      expect(writableByOthersWarnings(config)).toEqual([expect.stringContaining(`Run: chmod o-w ${join(root, name)}`)]);
    }),
  );

  it("a folder that its group may write, or one below a sticky folder, is accepted", () =>
    withFolder(async (root) => {
      await mkdir(join(root, "data"));
      await chmod(join(root, "data"), 0o2770);
      await chmod(root, 0o1777);
      expect(writableByOthersWarnings(testConfig(targetIn(join(root, "data"))))).toEqual([]);
    }));

  it("a start in production refuses such a database before it opens the file, and doctor reports a failure", () =>
    withFolder(async (folder) => {
      await chmod(folder, 0o777);
      const target = targetIn(folder);
      await expect(startReceiver(target, { env: PRODUCED })).rejects.toThrow(`chmod o-w ${folder}`);
      const [finding] = await checkDatabase(testConfig(target, PRODUCED), [], new Date());
      expect(finding).toMatchObject({
        level: "failure",
        message: expect.stringContaining(`chmod o-w ${folder}`),
      });
    }));

  it("a start outside production and doctor warn of such a database, as of weak secrets", () =>
    withFolder(async (folder) => {
      await chmod(folder, 0o777);
      const env = { APP_ENV: "development", SIGNING_SECRET: "changeme-changeme" };
      const receiver = await startReceiver(targetIn(folder), { env });
      await receiver.stop();
      const warned = receiver.lines.filter(({ level }) => level === 40).map(({ msg }) => String(msg));
      for (const says of ["DATABASE_URL: every user of this machine can write", "SIGNING_SECRET: got a placeholder"]) {
        expect(warned).toContainEqual(expect.stringContaining(says));
        const findings = await runDoctor(testConfig(targetIn(folder), env), [], []);
        expect(findings).toContainEqual(
          expect.objectContaining({ level: "warning", message: expect.stringContaining(says) }),
        );
      }
    }));
});
