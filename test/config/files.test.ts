import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfigFile, loadEnvironment } from "../../src/config/index.ts";

/** Below the project, so that `import "oncehook"` finds it as it would in a user's own folder. */
async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(process.cwd(), "test", "config-"));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const database = (folder: string) => ({ DATABASE_URL: `sqlite:${folder}/data/x.db` });

describe("generated secrets", () => {
  it("generated secrets are the same at every start, and readable by their owner alone", () =>
    inFolder(async (folder) => {
      const first = await loadEnvironment(database(folder), folder);
      const second = await loadEnvironment(database(folder), folder);
      expect(first.generated).toEqual(["SIGNING_SECRET", "ENCRYPTION_KEY", "ADMIN_TOKEN"]);
      expect(second.generated).toEqual([]);
      expect(second.config.authentication.signing).toEqual(first.config.authentication.signing);
      expect((await stat(first.secretsFile!)).mode & 0o777).toBe(0o600);
    }));

  it("generated secrets are one set for processes that start at once", () =>
    inFolder(async (folder) => {
      const loaded = await Promise.all(Array.from({ length: 40 }, () => loadEnvironment(database(folder), folder)));
      expect(new Set(loaded.map(({ config }) => config.admin.token)).size).toBe(1);
      expect(await readdir(join(folder, "data"))).toEqual(["secrets.development.json"]);
    }));

  it("generated secrets replace only what is not set, and differ between environments", () =>
    inFolder(async (folder) => {
      const token = "a-token-that-was-set-by-hand";
      const given = await loadEnvironment({ ...database(folder), ADMIN_TOKEN: token }, folder);
      expect(given.config.admin.token).toBe(token);
      expect(given.generated).toEqual(["SIGNING_SECRET", "ENCRYPTION_KEY"]);
      const test = await loadEnvironment({ ...database(folder), APP_ENV: "test" }, folder);
      expect(test.config.authentication.signing.secrets).not.toEqual(given.config.authentication.signing.secrets);
    }));

  it("generated secrets that others can read are refused", () =>
    inFolder(async (folder) => {
      const { secretsFile } = await loadEnvironment(database(folder), folder);
      await chmod(secretsFile!, 0o644);
      await expect(loadEnvironment(database(folder), folder)).rejects.toThrow(`run: chmod 600 ${secretsFile}`);
    }));

  it("no secrets are written for a refused configuration, nor in production", () =>
    inFolder(async (folder) => {
      await expect(loadEnvironment({ ...database(folder), PORT: "x" }, folder)).rejects.toThrow("PORT");
      await expect(loadEnvironment({ ...database(folder), APP_ENV: "production" }, folder)).rejects.toThrow(
        "SIGNING_SECRET",
      );
      await expect(stat(join(folder, "data"))).rejects.toThrow();
    }));

  it("a damaged file of generated secrets is refused", () =>
    inFolder(async (folder) => {
      const { secretsFile } = await loadEnvironment(database(folder), folder);
      await writeFile(secretsFile!, "{");
      await expect(loadEnvironment(database(folder), folder)).rejects.toThrow("does not hold the generated secrets");
      expect(await readFile(secretsFile!, "utf8")).toBe("{");
    }));
});

describe("oncehook.config.ts", () => {
  const load = (text: string, name = "oncehook.config.ts") =>
    inFolder(async (folder) => {
      await writeFile(join(folder, name), text);
      return loadConfigFile(folder);
    });

  it("the configuration file is optional", () =>
    inFolder(async (folder) => expect(await loadConfigFile(folder)).toEqual({})));

  it("a configuration file in TypeScript is loaded without a build", async () => {
    const file = await load(`import { defineConfig, defineHandler, type Migration } from "oncehook";
      import { z } from "zod";
      const handler = defineHandler({ type: "t", data: z.object({}), handle: () => ({}) });
      const migrations: Migration[] = [{ name: "m", up: async () => {} }];
      export default defineConfig({ handlers: [handler], migrations });`);
    expect(file.handlers?.[0]?.type).toBe("t");
    expect(file.migrations?.[0]?.name).toBe("m");
  });

  it.each([
    ["export const x = 1;", "expected a default export: defineConfig({ handlers: […] })"],
    ["export default { handlrs: [] };", "handlrs: no such key; did you mean handlers?"],
    ["export default { plugins: [] };", "plugins: no such key; there are sources, handlers and migrations"],
    ["export default { handlers: {} };", "handlers: expected a list"],
    ["export default { handlers: [{}] };", "handlers[0]: expected what defineHandler returns"],
    ["export default { migrations: [{ name: 'x' }] };", "migrations[0]: expected { name, up(tx) }"],
    [
      "const h = { type: 't', versions: ['v1'], handle() {} }; export default { handlers: [h, h] };",
      'handlers[1]: handlers[0] is for "t" in v1 as well; keep one of them',
    ],
    ["throw new Error('boom');", "cannot be loaded: boom"],
    ["import 'no-such-package';", "cannot be loaded: "],
  ])("an invalid configuration file is refused with its name: %s", async (text, problem) => {
    await expect(load(text, "oncehook.config.mjs")).rejects.toThrow(problem);
    await expect(load(text, "oncehook.config.mjs")).rejects.toThrow("oncehook.config.mjs: ");
  });

  it("a named configuration file must exist", () =>
    inFolder(async (folder) => {
      await expect(loadConfigFile(folder, "other.ts")).rejects.toThrow("other.ts: does not exist");
    }));
});
