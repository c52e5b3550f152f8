import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { parseEnv, promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { askKind } from "../../src/cli/project-kinds.ts";
import type { Ended } from "../support/child.ts";
import { runCommandLine } from "../support/command.ts";
import { withDatabase } from "../support/databases.ts";
import { COMPILER_LIMIT_MS, compile, runNode } from "../support/in-project.ts";
import { startServer } from "../support/process.ts";
import { SECRET } from "../support/receiver.ts";

const run = promisify(execFile);

const OWN = [
  "oncehook.config.ts",
  "handlers/parcel-shipped.ts",
  "test/parcel-shipped.test.ts",
  ".env.example",
  ".env.test",
];

const init = (cwd: string, ...args: string[]): Promise<Ended> =>
  runCommandLine(["init", ...args], { PATH: process.env.PATH, NO_COLOR: "1" }, cwd);

async function inFolder<T>(use: (folder: string) => Promise<T>, above = tmpdir()): Promise<T> {
  const folder = await mkdtemp(join(above, "oncehook-init-"));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A folder that `init` has filled, with the packages it needs: Oncehook's own source, and below the project the rest. */
function inProject<T>(use: (folder: string, said: Ended) => Promise<T>): Promise<T> {
  return inFolder(
    async (folder) => {
      const said = await init(folder);
      await mkdir(join(folder, "node_modules"));
      await symlink(process.cwd(), join(folder, "node_modules", "oncehook"));
      return use(folder, said);
    },
    join(process.cwd(), "test"),
  );
}

async function contents(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(files.map(async (file) => [file, await readFile(file, "utf8")] as const));
  return Object.fromEntries(texts.map(([file, text]) => [file.slice(folder.length + 1), text]));
}

describe("oncehook init", () => {
  it(
    "init writes a project whose npm test passes, and fails without a test or with a handler that throws",
    { tags: "full", timeout: COMPILER_LIMIT_MS },
    () =>
      inProject(async (folder, { code, stderr }) => {
        expect([code, stderr]).toEqual([0, ""]);
        const { scripts } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
        // As npm runs a script, and without npm.
        const npmTest = () =>
          promisify(execFile)("sh", ["-c", scripts.test], {
            cwd: folder,
            env: {
              PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
              NODE_OPTIONS: "--conditions=oncehook-source",
            },
          });
        expect((await npmTest()).stdout).toMatch(/pass 3\n.+fail 0/);
        await runCommandLine(["sources", "add", "stripe"], { PATH: process.env.PATH }, folder);
        expect((await npmTest()).stdout).toMatch(/pass 3\n.+fail 0/);
        const handler = join(folder, "handlers/parcel-shipped.ts");
        const text = await readFile(handler, "utf8");
        await writeFile(handler, text.replace('insertInto("parcels")', 'insertInto("parcel" as "parcels")'));
        // Node's runner tells on standard output what a test prints on either stream.
        await expect(npmTest()).rejects.toMatchObject({
          stdout: expect.stringMatching(/no such table: parcel\n(?:.*\n)*?.* at .*handlers\/parcel-shipped\.ts:\d+/),
        });
        await rm(join(folder, "test/parcel-shipped.test.ts"));
        await expect(npmTest()).rejects.toMatchObject({ stderr: expect.stringContaining("test/*.test.ts") });
      }),
  );

  it("init writes a project whose types fit its own tsconfig.json", { tags: "full", timeout: COMPILER_LIMIT_MS }, () =>
    inProject(async (folder) => {
      expect(await compile([folder])).toEqual([""]);
    }),
  );

  it(
    "init writes a project that starts, reads its .env.example, and handles the suggested callback",
    { tags: "full" },
    () =>
      inProject(async (folder, { stdout }) => {
        const [, data = ""] = /send parcel_shipped --data '(.+)'/.exec(stdout) ?? [];
        await withDatabase("sqlite", async (target) => {
          const server = await startServer(target, {}, folder);
          const event = { event_id: "e1", event_type: "parcel_shipped", timestamp: 1, data: JSON.parse(data) };
          expect((await server.send(event)).body).toEqual({ status: "success", data: { parcel_id: "p1" } });
          // A project has no script of that name.
          expect(server.stderr()).not.toContain("npm run");
          server.child.kill("SIGTERM");
          expect(await server.ended).toBe(0);
        });
        const env = { PATH: process.env.PATH, SIGNING_SECRET: SECRET };
        const signing = ["sign", "tsconfig.json", "--env", ".env.example"];
        expect(await runCommandLine(signing, env, folder)).toMatchObject({ code: 0, stderr: "" });
      }),
  );

  it("init makes the folder, names what it wrote, and prints the next commands", () =>
    inFolder(async (folder) => {
      const { stdout } = await init(folder, "my receiver");
      for (const path of [...OWN, "package.json", "tsconfig.json", ".gitignore"])
        expect(stdout).toContain(`  ${path}\n`);
      const next = stdout.slice(stdout.indexOf("Next:"));
      expect(next).toMatch(
        /cd 'my receiver'\n {2}mv (\S+)\/"\$\(npm run -s pack --prefix \1\)" \.\n {2}npm install \.\/oncehook-\*\.tgz\n {2}npm test\n {2}npm start\n/,
      );
      const manifest = JSON.parse(await readFile(join(folder, "my receiver", "package.json"), "utf8"));
      expect(manifest).toMatchObject({
        name: "my-receiver",
        type: "module",
        private: true,
        scripts: { start: "exec oncehook serve" },
        devDependencies: { node: expect.stringMatching(/^24\./) },
        allowScripts: { node: true },
      });
      // npm would ask about each of these wherever our archive is installed.
      const { scripts } = JSON.parse(await readFile("package.json", "utf8"));
      for (const name of ["preinstall", "install", "postinstall", "prepare"]) expect(scripts[name]).toBeUndefined();
    }));

  it.each([...OWN, "oncehook.config.mjs"])("init names an existing %s, and changes nothing", (path) =>
    inFolder(async (folder) => {
      await mkdir(join(folder, path, ".."), { recursive: true });
      await writeFile(join(folder, path), "mine");
      await writeFile(join(folder, ".gitignore"), "mine\n");
      const { code, stdout, stderr } = await init(folder);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(new RegExp(`^oncehook: ${path}: already in .+ Nothing was changed; `));
      expect(await contents(folder)).toEqual({ [path]: "mine", ".gitignore": "mine\n" });
    }),
  );

  it("init writes through no link, not even a dangling one, and into no file in place of a folder", () =>
    inFolder(async (folder) => {
      await symlink(join(folder, "elsewhere"), join(folder, ".env.example"));
      await writeFile(join(folder, "handlers"), "mine");
      const { code, stderr } = await init(folder);
      expect(code).toBe(1);
      expect(stderr).toContain("oncehook: handlers/parcel-shipped.ts, .env.example: already in ");
      expect(await contents(folder)).toEqual({ handlers: "mine" });
    }));

  it("init leaves package.json and tsconfig.json unchanged, and prints what they still need", () =>
    inFolder(async (folder) => {
      await writeFile(join(folder, "package.json"), '{"name":"mine"}');
      await writeFile(join(folder, "tsconfig.json"), "{}");
      const { code, stdout } = await init(folder);
      expect(code).toBe(0);
      expect(stdout).toContain("Yours, and left as it was: package.json, tsconfig.json\n");
      expect(stdout).not.toContain("type=module");
      expect(stdout).toMatch(/npm install \S+\.tgz zod\n/);
      expect(stdout).toContain("  npm install --save-dev --allow-scripts=node node@24\n");
      expect(stdout).toContain("  npm pkg set scripts.start='exec oncehook serve'\n");
      expect(await contents(folder)).toMatchObject({
        "package.json": '{"name":"mine"}',
        "tsconfig.json": "{}",
      });
    }));

  it.each(["{}", '{"type":"commonjs"}'])(
    "init writes ES modules by their names into a CommonJS project (%s)",
    (manifest) =>
      inFolder(async (folder) => {
        await writeFile(join(folder, "package.json"), manifest);
        const { code, stdout } = await init(folder);
        expect(code).toBe(0);
        expect(stdout).toContain("  oncehook.config.mts\n  handlers/parcel-shipped.mts\n");
      }),
  );

  it(
    "the receiver that init writes into a CommonJS project starts, and its tests pass",
    { tags: "full", timeout: COMPILER_LIMIT_MS },
    () =>
      inFolder(
        async (folder) => {
          await writeFile(join(folder, "package.json"), '{"type":"commonjs"}');
          await writeFile(join(folder, "server.js"), 'console.log(typeof require("node:fs").readFileSync);');
          const { stdout } = await init(folder);
          await mkdir(join(folder, "node_modules"));
          await symlink(process.cwd(), join(folder, "node_modules", "oncehook"));
          expect(await runNode(["server.js"], folder)).toMatchObject({ code: 0 });
          await withDatabase("sqlite", async (target) => {
            const server = await startServer(target, {}, folder);
            const data = { parcel_id: "p1", weight_grams: 250 };
            const event = { event_id: "e1", event_type: "parcel_shipped", timestamp: 1, data };
            expect((await server.send(event)).body).toEqual({ status: "success", data: { parcel_id: "p1" } });
            server.child.kill("SIGTERM");
            expect(await server.ended).toBe(0);
          });
          const [, command = ""] = /^ {2}(node .* --test .*)$/m.exec(stdout) ?? [];
          const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
          const tests = promisify(execFile)("sh", ["-c", command], {
            cwd: folder,
            env: { ...env, NODE_OPTIONS: "--conditions=oncehook-source" },
          });
          expect((await tests).stdout).toMatch(/pass 3\n.+fail 0/);
        },
        join(process.cwd(), "test"),
      ),
  );

  it("init adds missing lines to .gitignore, after the existing ones", () =>
    inFolder(async (folder) => {
      await writeFile(join(folder, ".gitignore"), "*.log\ndata/");
      await init(folder);
      expect(await readFile(join(folder, ".gitignore"), "utf8")).toBe(
        "*.log\ndata/\nnode_modules/\n.env\n.env.*\n!.env.example\n!.env.test\n",
      );
    }));

  it("init changes nothing where package.json is no JSON", () =>
    inFolder(async (folder) => {
      await writeFile(join(folder, "package.json"), "{");
      const { code, stderr } = await init(folder);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/package\.json: is no JSON .+ nothing was changed\n$/)]);
      expect(await readdir(folder)).toEqual(["package.json"]);
    }));

  it("init does not write into Oncehook's own folder", async () => {
    const { code, stderr } = await init(process.cwd());
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("this is Oncehook's own folder; name the one of your project"),
    ]);
  });
});

describe("oncehook init for an application", () => {
  it("init makes a key and a secret that no sender knows in .env, which it never writes over", () =>
    inFolder(async (folder) => {
      const { stdout } = await init(folder, ".", "--for", "express");
      const env = parseEnv(await readFile(join(folder, ".env"), "utf8"));
      expect(env.ONCEHOOK_ENCRYPTION_KEY).toMatch(/^[\w+/]{43}=$/);
      expect(env.STRIPE_SECRET).toMatch(/^whsec_[\w+/]{43}=$/);
      expect(await readFile(join(folder, ".env.example"), "utf8")).not.toContain(env.STRIPE_SECRET);
      expect(stdout).toContain(
        "  npm test\n  npm start    # the page: http://127.0.0.1:3000/admin/webhooks\n  npx oncehook send --env .env --source stripe invoice.paid ",
      );
    }));

  it("init completes the package.json that npm install made, and leaves one of the user as it is", () =>
    inFolder(async (folder) => {
      await writeFile(join(folder, "package.json"), '{"dependencies":{"oncehook":"^1.0.0"}}');
      const { stdout } = await init(folder, ".", "--for", "express");
      const { dependencies, scripts } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
      expect(Object.keys(dependencies).toSorted()).toEqual(["express", "oncehook", "zod"]);
      expect(scripts.start).toBe("exec node --env-file=.env server.ts");
      expect(stdout).not.toContain("Yours");
    }));

  it.each([
    ["file:../archive.tgz", "file:../../archive.tgz"],
    ["^0.3.0", "^0.3.0"],
    [undefined, "0.3.1"],
  ])("a project below a folder that has Oncehook installed as %s depends on it itself, as %s", (above, spec) =>
    inFolder(async (folder) => {
      await mkdir(join(folder, "node_modules", "oncehook"), { recursive: true });
      await writeFile(join(folder, "node_modules", "oncehook", "package.json"), '{"version":"0.3.1"}');
      await writeFile(join(folder, "package.json"), JSON.stringify({ dependencies: { oncehook: above } }));
      const { stdout } = await init(folder, "my-shop", "--for", "express");
      const { dependencies } = JSON.parse(await readFile(join(folder, "my-shop", "package.json"), "utf8"));
      expect(dependencies).toMatchObject({ oncehook: spec, express: expect.any(String) });
      expect(stdout).toContain("  cd my-shop\n  npm install\n  npm test\n");
      await mkdir(join(folder, "old-shop"));
      await writeFile(join(folder, "old-shop", "package.json"), '{"type":"module"}');
      const word = spec.startsWith("file:") ? spec : `oncehook@${spec}`;
      const old = await init(folder, "old-shop", "--for", "express");
      expect(old.stdout).toMatch(new RegExp(`\\n {2}npm install '?${word.replace(/[\^.]/g, "\\$&")}'? express zod\\n`));
    }),
  );

  it("init names what an existing application still needs, and its .env", () =>
    inFolder(async (folder) => {
      await writeFile(join(folder, "package.json"), '{"type":"module","dependencies":{"express":"5"}}');
      await writeFile(join(folder, ".env"), "MINE=1\n");
      const { stdout } = await init(folder, ".", "--for", "express");
      expect(stdout).toContain("Yours, and left as it was: package.json, .env\n");
      expect(stdout).toMatch(/npm install \S+\.tgz zod\n/);
      expect(await readFile(join(folder, ".env"), "utf8")).toBe("MINE=1\n");
    }));

  it("the command that init prints for the key of a .env adds a line, also after a last line without an end", () =>
    inFolder(async (folder) => {
      await writeFile(join(folder, "package.json"), '{"type":"module","dependencies":{"express":"5"}}');
      await writeFile(join(folder, ".env"), "MINE=1");
      const { stdout } = await init(folder, ".", "--for", "express");
      const command = stdout.split("\n").find((line) => line.endsWith("# and the rest of .env.example")) ?? "";
      await run("sh", ["-c", command], { cwd: folder });
      const { MINE, ONCEHOOK_ENCRYPTION_KEY = "" } = parseEnv(await readFile(join(folder, ".env"), "utf8"));
      expect([MINE, Buffer.from(ONCEHOOK_ENCRYPTION_KEY, "base64").length]).toEqual(["1", 32]);
    }));

  it("init refuses a kind that it does not know, and asks for one at a terminal until it gets one", async () => {
    const { code, stderr } = await init(tmpdir(), "--for", "rails");
    expect([code, stderr]).toEqual([2, expect.stringContaining("express")]);
    const [input, output] = [new PassThrough(), new PassThrough()];
    const asked = askKind(input, output);
    input.write("rails\n2\n");
    expect(await asked).toBe("express");
    const empty = new PassThrough();
    const byDefault = askKind(empty, new PassThrough());
    empty.write("\n");
    expect(await byDefault).toBe("service");
    expect(String(output.read())).toContain("  2  express  an Express application\n");
  });
});
