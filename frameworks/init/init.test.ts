import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { PROJECT_KINDS } from "../../src/cli/project-kinds.ts";
import { callOnce } from "../../src/domain/index.ts";
import { runCommandLine } from "../../test/support/command.ts";
import { freePort } from "../../test/support/free-port.ts";
import { compile } from "../../test/support/in-project.ts";
import { listening } from "../../test/support/listening.ts";

const run = promisify(execFile);
const ROOT = process.cwd();

/** What a project's `tsc` emits, without a look at types. */
const EMIT = `
const { globSync, mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const { dirname, join } = require("node:path");
const ts = require(${JSON.stringify(join(ROOT, "node_modules/typescript"))});
const { config } = ts.readConfigFile("tsconfig.json", ts.sys.readFile);
const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, module: "esnext" }, ".");
for (const fileName of globSync("{*,handlers/*,test/*}.ts")) {
  const { outputText } = ts.transpileModule(readFileSync(fileName, "utf8"), { compilerOptions: options, fileName });
  const out = join("dist", fileName.replace(/ts$/, "js"));
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, outputText);
}
`;

interface Written {
  readonly folder: string;
  readonly printed: string;
  npmTest(): Promise<{ stdout: string }>;
  /** Lends the origin of the running application. */
  withStarted(variables: NodeJS.ProcessEnv, use: (origin: string) => Promise<void>): Promise<void>;
}

/** An application that `init` wrote into an empty folder, with the framework of frameworks/ and Oncehook's source. */
async function withWritten<T>(kind: string, use: (written: Written) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(ROOT, "frameworks", "init-"));
  try {
    const { code, stdout, stderr } = await runCommandLine(
      ["init", ".", "--for", kind],
      { PATH: process.env.PATH },
      folder,
    );
    expect([code, stderr]).toEqual([0, ""]);
    mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
    // Of Oncehook there are sources here: `tsc` itself would write those to dist/ too.
    const emit = join(folder, "node_modules/emit.cjs");
    writeFileSync(emit, EMIT);
    writeFileSync(join(folder, "node_modules/.bin/tsc"), `#!/bin/sh\nexec "${process.execPath}" "${emit}"\n`, {
      mode: 0o700,
    });
    symlinkSync(ROOT, join(folder, "node_modules", "oncehook"));
    const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    // As npm runs a script, and without npm.
    const PATH = `${join(folder, "node_modules/.bin")}:${dirname(process.execPath)}:${process.env.PATH}`;
    const env = { PATH, NODE_OPTIONS: "--conditions=oncehook-source" };
    const npmTest = () => run("sh", ["-c", scripts.test], { cwd: folder, env });
    const withStarted: Written["withStarted"] = async (variables, use) => {
      const port = await freePort();
      const started = { ...env, ...variables, PORT: String(port) };
      const child = spawn("sh", ["-c", scripts.start], {
        cwd: folder,
        env: started,
        stdio: ["ignore", "ignore", "inherit"],
      });
      const end = once(child, "exit");
      try {
        const origin = `http://127.0.0.1:${port}`;
        await listening(origin);
        await use(origin);
      } finally {
        child.kill("SIGTERM");
        await end;
      }
    };
    return await use({ folder, printed: stdout, npmTest, withStarted });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const KINDS = PROJECT_KINDS.filter((kind) => kind !== "service");
/** Next.js is no package of frameworks/: its route runs without it, and its types and its build need it. */
const INSTALLED = KINDS.filter((kind) => kind !== "nextjs");

/** All applications in one compiler, which parses once what they share. */
function compileAll([kind, ...kinds]: readonly string[], folders: readonly string[] = []): Promise<readonly string[]> {
  if (kind === undefined) return compile(folders);
  return withWritten(kind, ({ folder }) => compileAll(kinds, [...folders, folder]));
}
const compiled = callOnce(() => compileAll(INSTALLED));

describe("an application that oncehook init writes", () => {
  it.each(KINDS)("the test of the application for %s handles a callback of Stripe once", (kind) =>
    withWritten(kind, async ({ npmTest }) => {
      expect((await npmTest()).stdout).toMatch(/pass 1\n.+fail 0/);
    }),
  );

  it.each(INSTALLED)("the page of the application for %s is open where .env says so, and closed elsewhere", (kind) =>
    withWritten(kind, async ({ withStarted }) => {
      await withStarted({}, async (origin) => {
        const page = await fetch(`${origin}/admin/webhooks`);
        expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("<title>Oncehook")]);
        expect((await fetch(`${origin}/admin/webhooks/activity`)).status).toBe(200);
        const change = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
        const refused = await fetch(`${origin}/admin/webhooks/api/v1/erasures`, change);
        expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("path")]);
      });
      await withStarted({ ADMIN_PAGE: "" }, async (origin) => {
        expect((await fetch(`${origin}/admin/webhooks`)).status).toBe(403);
      });
    }),
  );

  it.each(INSTALLED)(
    "the application for %s compiles under its own tsconfig.json",
    { timeout: 180_000 },
    async (kind) => {
      expect((await compiled())[INSTALLED.indexOf(kind)]).toBe("");
    },
  );

  it.each(INSTALLED)("the packages of the application for %s are those that the tests of frameworks run", (kind) => {
    const given = JSON.parse(readFileSync(`templates/${kind}/manifest.json`, "utf8"));
    const tested = JSON.parse(readFileSync("frameworks/package.json", "utf8"));
    const root = JSON.parse(readFileSync("package.json", "utf8"));
    const versions = { ...root.devDependencies, ...tested.dependencies, ...tested.devDependencies };
    const names = Object.entries({ ...given.dependencies, ...given.devDependencies });
    expect(names).toEqual(names.map(([name]) => [name, versions[name]]));
  });
});
