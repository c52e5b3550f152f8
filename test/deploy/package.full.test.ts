import { globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { doors } from "../../scripts/doors.ts";
import { callOnce } from "../../src/domain/index.ts";
import { withDatabase } from "../support/databases.ts";
import { loadedCode } from "./loaded-code.ts";
import { installed, npm, outputOf, type Packed, pack } from "./packed.ts";

const MINUTES = 60_000;
/** A compiler, or a runtime, on a machine with much else to do. */
const PROGRAM_LIMIT_MS = 3 * MINUTES;
/** Of the installed application, blocks of the disk included: most of it is the bundle, the page and Kysely's types. */
const MAX_BYTES = 25_000_000;
/** Of `import "oncehook"`: an application that mounts a receiver pays it at each start, a function at each cold one. */
const MAX_LOADED_BYTES = 450_000;
const MAX_IMPORT_RSS_MB = 20;
const TOOLS = [
  "zod@4.6.7",
  "@types/node@24.19.2",
  "@arethetypeswrong/cli@0.18.5",
  "publint@0.3.25",
  "typescript-5.9@npm:typescript@5.9.3",
  "typescript-6@npm:typescript@6.0.3",
  "node@22.23.3",
  "bun@1.4.5",
];

let packed: Packed;
/** Of a user, with nothing but the archive. */
let application: string;
/** With what checks the archive beside it. */
let tools: string;
beforeAll(async () => {
  packed = await pack();
  application = await installed(join(packed.folder, "application"), [packed.archive]);
  tools = await installed(join(packed.folder, "tools"), [packed.archive, ...TOOLS]);
}, 15 * MINUTES);
afterAll(() => packed?.remove());

const bin = (name: string) => join(tools, "node_modules/.bin", name);

describe("the packed archive", () => {
  it("the archive holds the built code, the page, the documentation and the templates, and nothing else", () => {
    const root = join(application, "node_modules/oncehook");
    const top = readdirSync(root).sort();
    expect(top).toEqual([
      ...["CHANGELOG.md", "LICENSE", "README.md", "dashboard", "dist", "docs", "package.json", "templates"],
    ]);
    expect(readdirSync(join(root, "dashboard"))).toEqual(["dist"]);
    const endings = /\.(js|cjs|js\.map|d\.ts|d\.cts)$|^third-party-licenses\.md$/;
    const files = globSync("**/*", { cwd: join(root, "dist") }).filter((path) =>
      statSync(join(root, "dist", path)).isFile(),
    );
    expect(files.filter((path) => !endings.test(path))).toEqual([]);
  });

  it("an application that installs it gets two packages, in less than 25 MB", () => {
    const folder = join(application, "node_modules");
    expect(readdirSync(folder).filter((name) => !name.startsWith("."))).toEqual(["kysely", "oncehook"]);
    const bytes = globSync("**/*", { cwd: folder }).reduce(
      (sum, path) => sum + statSync(join(folder, path)).blocks * 512,
      0,
    );
    expect(bytes).toBeLessThan(MAX_BYTES);
  });

  it("import of oncehook loads neither the server nor the page nor a driver: 450 KB, and four small packages", () => {
    const { bytes, packages } = loadedCode(join(application, "node_modules/oncehook/dist/index.js"));
    expect(packages).toEqual(["@fastify/forwarded", "@fastify/proxy-addr", "ipaddr.js", "kysely"]);
    expect(bytes).toBeLessThan(MAX_LOADED_BYTES);
  });

  it("npm finds no vulnerability and no missing package in the application", async () => {
    expect(await npm(application, "ls", "--all")).not.toMatch(/missing|invalid/i);
  });

  it("the licenses of all bundled packages are in the archive", () => {
    const text = readFileSync(join(application, "node_modules/oncehook/dist/third-party-licenses.md"), "utf8");
    const names = ["fastify", "jose", "kysely", "nodemailer", "pg", "pino", "prom-client", "undici", "zod"];
    expect([...names, "@opentelemetry/sdk-trace"].filter((name) => !text.includes(`## ${name} - `))).toEqual([]);
  });

  it("publint finds nothing to change", async () => {
    expect(await outputOf(bin("publint"), ["--strict", packed.archive], tools)).toMatch(/All good!/);
  });

  it("attw finds the types of each door for import, require, bundlers and the old resolution", async () => {
    const output = await outputOf(bin("attw"), [packed.archive, "--format", "json"], tools);
    const { analysis, problems } = JSON.parse(output) as {
      analysis: { entrypoints: Record<string, object> };
      problems?: Record<string, unknown>;
    };
    expect(Object.keys(analysis.entrypoints).length).toBeGreaterThanOrEqual(doors().length);
    expect(problems ?? {}).toEqual({});
  });
});

const CONSUMER = `
import { defineConfig, defineHandler, Rejected, sql, type Transaction } from "oncehook";
import { z } from "zod";
import { toAdminHandler } from "oncehook/admin";
import { createAdminClient } from "oncehook/admin-client";
import { once } from "oncehook/once";
import { createLogger, loadConfig, start } from "oncehook/server";
import { stripe } from "oncehook/sources";
import { startTestReceiver } from "oncehook/testing";

interface Tables { paid: { id: string } }
const paid = defineHandler<Tables>()({
  source: "stripe",
  type: "invoice.paid",
  data: z.object({ id: z.string() }),
  async handle({ event, tx }) {
    if (event.data.id === "") throw new Rejected("no id");
    await tx.query.insertInto("paid").values({ id: event.data.id }).execute();
    await sql\`SELECT 1\`.execute(tx.query);
    return { id: event.data.id };
  },
});
// @ts-expect-error a table that the handler does not have
export const insert = (tx: Transaction<Tables>) => tx.query.insertInto("unpaid");
export const config = defineConfig({ sources: { stripe: stripe({ secret: "whsec_x" }) }, handlers: [paid] });
export const doors = [createAdminClient, toAdminHandler, once, createLogger, loadConfig, start, startTestReceiver];
`;

const MODES = {
  "an ES module under nodenext": { module: "nodenext", file: "consumer.mts" },
  "a CommonJS module under nodenext": { module: "nodenext", file: "consumer.cts" },
  "a CommonJS module under node16": { module: "node16", file: "consumer.cts" },
  "a bundler's module": { module: "esnext", moduleResolution: "bundler", file: "consumer.ts" },
  "a CommonJS module under the old resolution": { module: "commonjs", moduleResolution: "node10", file: "consumer.ts" },
} as const;

const COMPILER = resolve("test/deploy/packed-types.mjs");

/** All modes in one process; Kysely's own declarations are the same in each. */
async function compiledBy(compiler: string): Promise<readonly string[]> {
  const projects = Object.values(MODES).map(({ file, ...options }, index) => {
    const isOld = "moduleResolution" in options && options.moduleResolution === "node10";
    const silenced = isOld && compiler === "typescript-6" ? { ignoreDeprecations: "6.0" } : {};
    const common = { strict: true, skipLibCheck: isOld, target: "es2023", types: ["node"] };
    return {
      file,
      options: { ...common, ...options, ...silenced },
      packages: index === 0 ? ["oncehook", "kysely"] : ["oncehook"],
    };
  });
  for (const { file } of projects) await writeFile(join(tools, file), CONSUMER);
  return JSON.parse(await outputOf(process.execPath, [COMPILER, compiler, JSON.stringify(projects)], tools));
}

describe.each(["typescript-5.9", "typescript-6"])("the declarations under %s", (compiler) => {
  const compiled = callOnce(() => compiledBy(compiler));
  it.each(Object.keys(MODES))(
    "%s compiles, with the declarations of the package checked",
    async (mode) => {
      expect((await compiled())[Object.keys(MODES).indexOf(mode)]).toBe("");
    },
    2 * PROGRAM_LIMIT_MS,
  );
});

const SCRIPT = resolve("test/deploy/packed-import.mjs");
const DOORS = doors().map(({ specifier }) => specifier);
it("import of oncehook takes less than 20 MB of memory", async () => {
  const output = await outputOf(process.execPath, [SCRIPT, "import", "oncehook"], application);
  expect((JSON.parse(output) as Imported[])[0]?.rssMb).toBeLessThan(MAX_IMPORT_RSS_MB);
});

const RECEIVER = resolve("test/deploy/packed-receiver.mjs");
/** What it prints for a signed callback, the same again, and a forged one. */
const HANDLED_ONCE = JSON.stringify([
  [200, { status: "success", data: { paid: 1 } }],
  [200, { status: "already_processed" }],
  [401, { error: "invalid signature" }],
]);
const RUNTIMES = { "Node 22": "node", "this Node": process.execPath, Bun: "bun" } as const;

interface Imported {
  readonly exported: readonly string[];
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly changed: object;
}

describe.each(Object.entries(RUNTIMES))("%s", (_name, program) => {
  const path = () => (program === process.execPath ? program : bin(program));
  it.each(["import", "require"])(
    "%s of each door opens nothing, listens to nothing and changes no global",
    async (kind) => {
      const output = await outputOf(path(), [SCRIPT, kind, ...DOORS], application);
      const imported = (JSON.parse(output) as Imported[]).map(({ exported, changed }) => [
        exported.length > 0,
        changed,
      ]);
      expect(imported).toEqual(DOORS.map(() => [true, {}]));
    },
    PROGRAM_LIMIT_MS,
  );

  it.each(["postgres", "sqlite"] as const)(
    "the package handles an event once on %s, and refuses SQLite where it has no authorizer",
    (dialect) =>
      withDatabase(dialect, async ({ url }) => {
        const output = await outputOf(path(), [RECEIVER, url], application);
        const isRefused = program === "node" && dialect === "sqlite";
        expect(output).toContain(isRefused ? "SQLite needs Node 24.10 or newer, or Bun" : HANDLED_ONCE);
      }),
    PROGRAM_LIMIT_MS,
  );
});
