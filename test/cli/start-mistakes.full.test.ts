import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { certificate } from "../support/certificate.ts";
import { type Ended, runOncehook } from "../support/child.ts";
import { databaseFile, type Target, withDatabase } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { freePort } from "../support/free-port.ts";
import { startServer } from "../support/process.ts";
import { startReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

type Env = Record<string, string>;
interface Lent {
  readonly folder: string;
  readonly target: Target;
  serve(env?: Env, ...args: string[]): Promise<Ended>;
}

/** A folder below the project, as a user's own that finds the package, and a database. */
function inFolder(use: (lent: Lent) => Promise<void>): Promise<void> {
  return withDatabase("sqlite", async (target) => {
    const folder = await mkdtemp(join(process.cwd(), "test", "start-"));
    const base = {
      ...CHILD_ENVIRONMENT,
      DATABASE_URL: target.url,
      PORT: "0",
      ADMIN_PORT: "0",
    };
    const serve = (env: Env = {}, ...args: string[]) => runOncehook(["serve", ...args], { ...base, ...env }, folder);
    try {
      await use({ folder, target, serve });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

async function expectRefused(ending: Promise<Ended>, problem: string | RegExp): Promise<void> {
  const { code, stderr } = await ending;
  expect(stderr).toEqual(problem instanceof RegExp ? expect.stringMatching(problem) : expect.stringContaining(problem));
  expect(stderr).not.toContain("    at ");
  expect(code).toBe(1);
}

describe("a start that is refused says why without a stack", () => {
  it.each(["PORT", "ADMIN_PORT"])("a start names the taken port of %s, and keeps the known base address", (name) =>
    inFolder(async ({ target, serve }) => {
      const server = await startServer(target);
      const known = () => rowsOf(target, "SELECT value FROM oncehook_settings WHERE name = 'base_url'");
      const before = await known();
      const { port } = new URL(name === "PORT" ? server.url : server.adminUrl);
      const env = { [name]: port, CALLBACK_BASE_URL: "http://127.0.0.1:9/elsewhere" };
      await expectRefused(
        serve(env),
        new RegExp(`^oncehook: ${name}: port ${port} on 127\\.0\\.0\\.1 is in use\\. Stop .+, or set ${name} to`),
      );
      expect(before).toHaveLength(1);
      expect(await known()).toEqual(before);
      server.child.kill("SIGTERM");
      await server.ended;
    }),
  );

  it("a start names two handlers for one type", () =>
    inFolder(async ({ folder, serve }) => {
      const text = `import { defineConfig, defineHandler } from "oncehook";
        import { z } from "zod";
        const handler = () => defineHandler({ type: "t", data: z.object({}), handle: () => ({}) });
        export default defineConfig({ handlers: [handler(), handler()] });`;
      await writeFile(join(folder, "oncehook.config.ts"), text);
      await expectRefused(serve(), 'handlers[1]: handlers[0] is for "t" in v1 as well; keep one of them');
    }));

  it("a start names TLS files that are no certificate, no key, or no pair", () =>
    inFolder(async ({ folder, serve }) => {
      const [one, other] = [await certificate("localhost"), await certificate("localhost")];
      const files = { "cert.pem": one.cert, "key.pem": one.key, "other.pem": other.key };
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
      const start = (cert: string, key: string) => serve({ HOST: "127.0.0.1", TLS_CERT_FILE: cert, TLS_KEY_FILE: key });
      await expectRefused(start("key.pem", "key.pem"), 'TLS_CERT_FILE: got "key.pem", which is not a certificate');
      await expectRefused(start("cert.pem", "cert.pem"), 'TLS_KEY_FILE: got "cert.pem", which is not a private key');
      await expectRefused(start("cert.pem", "other.pem"), 'TLS_KEY_FILE: got "other.pem", which is not the key of');
      await expectRefused(start("cert.pem", "none.pem"), 'TLS_KEY_FILE: got "none.pem", which does not exist');
    }));

  it("a start names an invalid line of the environment file without showing it", () =>
    inFolder(async ({ folder, serve }) => {
      const text = '# secrets\nexport A="one\ntwo"\n\nB = 3\nc2VjcmV0LW9mLXNvbWVib2R5\n';
      await writeFile(join(folder, "my.env"), text);
      await expectRefused(serve({}, "--env", "my.env"), '--env: "my.env", line 6: expected NAME=value');
      expect((await serve({}, "--env", "my.env")).stderr).not.toContain("c2VjcmV0");
    }));

  it.each([
    ["export default {};\nthrow new Error('boom');", "oncehook.config.ts:2:7: cannot be loaded: boom"],
    ["const a: number = 1;\nexport default { handlers: [ };", "oncehook.config.ts:2: cannot be loaded: "],
    ["\nenum X { A }", "oncehook.config.ts:2: cannot be loaded: TypeScript enum is not supported"],
    [
      'import { defineHandler } from "oncehook";\ndefineHandler({ type: 1 });',
      "oncehook.config.ts:2:1: cannot be loaded: defineHandler: `type`: got 1",
    ],
    ['import "./helper";', "helper.ts: an import names the whole file, with its ending"],
    ['import "./helper.js";', "helper.ts: an import names the whole file, with its ending"],
    ['import "./helper.ts";', "/helper.ts:2): cannot be loaded: Expression expected"],
  ])("a start names the line at which the configuration file cannot be loaded: %j", (text, problem) =>
    inFolder(async ({ folder, serve }) => {
      await writeFile(join(folder, "oncehook.config.ts"), text);
      await writeFile(join(folder, "helper.ts"), "export const a: number = 1;\nconst b = ;\n");
      await expectRefused(serve(), problem);
    }),
  );

  it("a start names the line at which a plain JavaScript configuration file cannot be parsed, and nothing else", () =>
    inFolder(async ({ folder, serve }) => {
      await writeFile(join(folder, "oncehook.config.mjs"), "const a = 1;\nexport default { handlers: [ };\n");
      await expectRefused(
        serve(),
        /^[^\n]+\n {2}\S+oncehook\.config\.mjs:2: cannot be loaded: Unexpected token '\}'\n$/,
      );
    }));

  it("a start names a configuration file that does not exist", () =>
    inFolder(async ({ serve }) =>
      expectRefused(serve({}, "--config", "none.ts"), /none\.ts: does not exist; --config names/),
    ));
});

describe("a start in development", () => {
  const development = { APP_ENV: "development", RATE_LIMIT_DEFAULT: "off" };

  it("a start warns of a changed base address only where it is set, not where it follows the port", () =>
    withDatabase("sqlite", async (target) => {
      const warnings: boolean[] = [];
      for (const given of [undefined, undefined, "http://127.0.0.1:9", "http://127.0.0.1:8"]) {
        const base: Env = given === undefined ? {} : { CALLBACK_BASE_URL: given };
        const env = { ...development, PORT: String(await freePort()), ...base };
        const receiver = await startReceiver(target, { env });
        await receiver.stop();
        warnings.push(JSON.stringify(receiver.lines).includes("CALLBACK_BASE_URL differs"));
      }
      expect(warnings).toEqual([false, false, true, true]);
    }));

  it("a start proposes the callback that it can handle", () =>
    withDatabase("sqlite", async (target) => {
      const server = await startServer(target, development);
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
      expect(server.stderr()).toContain("Try it: npm run oncehook -- send payment_notify");
    }));

  it("a start does not propose a callback without a handler", () =>
    withDatabase("sqlite", async (target) => {
      const server = await startServer(target, { ...development, HANDLERS: "none" });
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
      expect(server.stderr()).not.toContain("Try it");
    }));
});

it("a start reports the new database that it made, and its path", () =>
  withDatabase("sqlite", async (target) => {
    const file = databaseFile(target);
    const made = { file, msg: expect.stringContaining("created a new, empty database") };
    const first = await startReceiver(target);
    await first.stop();
    expect(first.lines).toContainEqual(expect.objectContaining(made));
    const second = await startReceiver(target);
    await second.stop();
    expect(second.lines).not.toContainEqual(expect.objectContaining(made));
  }));
