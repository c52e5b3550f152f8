import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { unfitNode } from "../../src/cli/unfit-node.js";
import { runOncehook } from "../support/child.ts";

it.each(["20.19.0", "22.20.0", "24.9.1"])("Node %s is refused with the required version", (version) => {
  expect(unfitNode(version, [])).toMatch(`this is Node ${version}, and 24.10 or newer is needed: install it from`);
});

it("an old Node gets the advice to use npx and npm start only where the project has a fitting one", async () => {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-node-"));
  try {
    const file = join(folder, "package.json");
    const packages = [{ node: pathToFileURL(file), says: 'Type "npx oncehook"' }];
    for (const [version, isFit] of [
      ["24.9.9", false],
      ["24.10.0", true],
      ["25.0.0", true],
    ]) {
      await writeFile(file, JSON.stringify({ version }));
      expect(unfitNode("20.19.0", packages)).toMatch(isFit ? /has one.+Type "npx oncehook"$/ : /"npm install node@24"/);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it.each(["24.10.0", "24.21.0", "25.0.0", "26.1.0"])("the command runs on Node %s", (version) => {
  expect(unfitNode(version)).toBeUndefined();
});

it("the command checks the version before it imports anything that an old Node lacks", async () => {
  // A Node that says it is old, and has no node:sqlite.
  const old = `import { registerHooks } from "node:module";
    Object.defineProperty(process.versions, "node", { value: "20.11.0" });
    registerHooks({ resolve(name, context, next) {
      if (name === "node:sqlite") throw new Error("ERR_UNKNOWN_BUILTIN_MODULE");
      return next(name, context);
    } });`;
  const { code, stderr } = await runOncehook(["--version"], {
    PATH: process.env.PATH,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(old)}`,
  });
  expect(stderr).toMatch(/^oncehook: this is Node 20\.11\.0, and 24\.10 or newer is needed.+\n$/);
  expect(code).toBe(1);
});

it.each(["--help", "doctor --help", "oauth --help", "demo"])(
  "the command ends quietly when its output pipe closes: %s | true",
  { tags: "full" },
  async (args) => {
    const main = join(process.cwd(), "src/cli/main.js");
    const script = `${process.execPath} --conditions=oncehook-source ${main} ${args} | true`;
    const stderr = await new Promise<string>((resolve) => {
      execFile("sh", ["-c", script], { env: { PATH: process.env.PATH } }, (_error, _stdout, text) => resolve(text));
    });
    expect(stderr).toBe("");
  },
);

it("npm start, the installed command and docs/production.md give the same options of Node", () => {
  const options = /--max-semi-space-size=\d+ --v8-pool-size=\d+/;
  const [command = ""] = readFileSync("src/cli/main.js", "utf8").split("\n");
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
  const expected = options.exec(command)?.[0];
  expect(expected).toBeDefined();
  expect(options.exec(scripts.start)?.[0]).toBe(expected);
  expect(options.exec(readFileSync("docs/production.md", "utf8"))?.[0]).toBe(expected);
});
