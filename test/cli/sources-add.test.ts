import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Ended } from "../support/child.ts";
import { runCommandLine } from "../support/command.ts";
import { withFolder } from "../support/folder.ts";

const TEMPLATE = readFileSync("templates/init/oncehook.config.ts", "utf8");

type Add = (...args: string[]) => Promise<Ended>;

/** Lends a folder with these files, and the command in it. */
function inFolder(files: Record<string, string>, use: (add: Add, read: (file: string) => string) => Promise<void>) {
  return withFolder((folder) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const add: Add = (...args) => runCommandLine(["sources", "add", ...args], { PATH: process.env.PATH }, folder);
    return use(add, (file) => (existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8") : ""));
  });
}

describe("oncehook sources add", () => {
  it("sources add writes the source into the configuration of oncehook init, and its variable into .env", () =>
    inFolder(
      { "oncehook.config.ts": TEMPLATE, ".env": "CALLBACK_BASE_URL=https://a.example/base" },
      async (add, read) => {
        const { code, stdout } = await add("stripe");
        expect(code).toBe(0);
        const config = read("oncehook.config.ts");
        expect(config).toContain('import { stripe } from "oncehook/sources";\n');
        expect(config).toContain(
          "defineConfig({ sources: { stripe: stripe({ secret: process.env.STRIPE_SECRET }) }, handlers: [",
        );
        expect(read(".env")).toBe("CALLBACK_BASE_URL=https://a.example/base\nSTRIPE_SECRET=\n");
        expect(stdout).toContain(
          "register https://a.example/base/api/stripe/callback with Stripe (https://docs.stripe",
        );
        expect(stdout).toContain("  node_modules/.bin/oncehook serve --env .env\n");
        expect(stdout).toContain("npx oncehook send --source stripe account.application.authorized --env .env");
      },
    ));

  it("sources add names the project's own script to start the receiver where it serves, and never npx", () =>
    inFolder({ "package.json": '{ "scripts": { "start": "exec oncehook serve" } }' }, async (add) => {
      expect((await add("stripe")).stdout).toContain("  npm start -- --env .env\n");
    }));

  it("a platform that chooses its secret is registered right after the start", () =>
    inFolder({ "oncehook.config.ts": TEMPLATE }, async (add) => {
      const { stdout } = await add("notion");
      expect(stdout).toMatch(/oncehook serve .*\n {2}register .* right after the start/);
      expect(stdout).not.toContain("to the secret that it shows");
    }));

  it("sources add changes nothing the second time, and keeps a secret that was set", () =>
    inFolder({ "oncehook.config.ts": TEMPLATE, ".env": "STRIPE_SECRET=whsec_1\n" }, async (add, read) => {
      await add("stripe");
      const before = read("oncehook.config.ts");
      const { code, stdout } = await add("stripe");
      expect([code, read("oncehook.config.ts")]).toEqual([0, before]);
      expect(stdout).toContain("has stripe() already");
      expect(read(".env")).toBe("STRIPE_SECRET=whsec_1\n");
    }));

  it("sources add writes a made-up secret for the tests, where the project has values for its tests", () =>
    inFolder({ "oncehook.config.ts": TEMPLATE, ".env.test": "# ours\n" }, async (add, read) => {
      await add("stripe");
      await add("stripe");
      expect(read(".env.test")).toMatch(/^# ours\nSTRIPE_SECRET=\w{32,}\n$/);
      expect(read(".env")).toBe("STRIPE_SECRET=\n");
    }));

  it("sources add writes a second source beside the first", () =>
    inFolder({ "oncehook.config.ts": TEMPLATE }, async (add, read) => {
      await add("stripe");
      await add("standard-webhooks");
      const config = read("oncehook.config.ts");
      expect(config).toContain('import { stripe, standardWebhooks } from "oncehook/sources";');
      expect(config).toContain(
        'sources: { "standard-webhooks": standardWebhooks({ secret: process.env.STANDARD_WEBHOOKS_SECRET }), stripe: stripe(',
      );
    }));

  it.each([
    ["that computes its sources", 'import { sources } from "./s.ts";\nexport default defineConfig({ sources });\n'],
    ["that exports a variable", "const config = { handlers: [] };\nexport default config;\n"],
    [
      "whose usual shape is a comment",
      'import a from "a";\n/*\nexport default defineConfig({ handlers: [] });\n*/\nexport default a;\n',
    ],
    [
      "that uses the preset's name",
      'import { stripe } from "./own.ts";\nexport default defineConfig({ x: stripe });\n',
    ],
  ])("sources add prints what to paste for a configuration %s, and leaves it", (_what, text) =>
    inFolder({ "oncehook.config.ts": text }, async (add, read) => {
      const { code, stdout } = await add("stripe");
      expect([code, read("oncehook.config.ts")]).toEqual([0, text]);
      expect(stdout).toContain("sources: { stripe: stripe({ secret: process.env.STRIPE_SECRET }) },");
    }),
  );

  it("sources add names the preset in SOURCES where there is no configuration file", () =>
    inFolder({ ".env": "export SOURCES=github # ours\nPORT=1" }, async (add, read) => {
      await add("stripe");
      await add("stripe");
      expect(read(".env")).toBe("export SOURCES=github,stripe\nPORT=1\nSTRIPE_SECRET=\n");
    }));

  it.each([
    ["strip", "did you mean stripe?"],
    ["githbu", "did you mean github?"],
    ["nobody", "there are adyen, adyen-platform"],
    ["meta", "meta needs more than a secret: import { meta }"],
    ["wechatPay", "wechatPay needs more than a secret: import { wechatPay }"],
  ])("sources add refuses %s with a suggestion, and writes nothing", (given, hint) =>
    inFolder({ "oncehook.config.ts": TEMPLATE }, async (add, read) => {
      const { code, stderr } = await add(given);
      expect([code, read("oncehook.config.ts"), read(".env")]).toEqual([2, TEMPLATE, ""]);
      expect(stderr).toContain(hint);
    }),
  );
});

describe("a secret that is missing", () => {
  const presets = join(process.cwd(), "src/sources/platforms/index.ts");
  const config = `import { stripe } from ${JSON.stringify(presets)};
export default { sources: { billing: stripe({ secret: process.env.STRIPE_SECRET }) } };
`;
  const hint = /\n {2}\.env: was not read; pass --env \.env\n$/;

  it.each([
    ["in SOURCES", {}, { SOURCES: "stripe" }],
    ["in the configuration", { "oncehook.config.mjs": config }, {}],
  ])("a missing secret is reported with the option that reads .env, if any: %s", (_where, files, env) =>
    withFolder(async (folder) => {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
      const run = (...args: string[]) =>
        runCommandLine(["sources", ...args], { PATH: process.env.PATH, ...env }, folder);
      expect((await run()).stderr).not.toMatch(hint);
      writeFileSync(join(folder, ".env"), "STRIPE_SECRET=whsec_of_a_test\n");
      expect((await run()).stderr).toMatch(hint);
      expect((await run("--env", ".env")).stderr).not.toContain("STRIPE");
    }),
  );
});
