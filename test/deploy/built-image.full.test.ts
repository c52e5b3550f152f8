import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, statSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signHmac } from "../../src/index.ts";
import { runOncehook } from "../support/child.ts";
import { PRODUCTION } from "../support/configuration.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";
import { type BuiltImage, buildImage } from "./built-image.ts";
import { command, healthCheck, PROJECT_DOCKERFILE } from "./dockerfile.ts";

const MINUTES = 60_000;
/** Half of it is the bundle with its maps, the rest Zod and, in a project, Kysely. */
const MAX_BYTES = 25_000_000;

const HANDLER = `
import { defineConfig, defineHandler, Rejected, sql } from "oncehook";
import { z } from "zod";
const shipped = defineHandler({
  type: "parcel_shipped",
  data: z.object({ parcel_id: z.string() }),
  async handle({ event, tx }) {
    if (event.data.parcel_id === "lost") throw new Rejected("there is no such parcel");
    await sql\`SELECT 1\`.execute(tx.query);
    return { parcel_id: event.data.parcel_id };
  },
});
export default defineConfig({ handlers: [shipped] });
`;

function begin({ env, workdir, user }: BuiltImage, words: readonly string[], more: Record<string, string>) {
  const [program = "", ...args] = words;
  return spawn(program, args, { cwd: workdir, env: { ...env, ...more }, stdio: "pipe", ...user });
}

function isHealthy({ env, workdir, user, stage }: BuiltImage, more: Record<string, string>): Promise<boolean> {
  const [program = "", ...args] = healthCheck(stage);
  return new Promise((resolve) => {
    execFile(program, args, { cwd: workdir, env: { ...env, ...more }, ...user }, (error) => resolve(error === null));
  });
}

async function deliver(port: number, parcel: string): Promise<unknown> {
  const body = JSON.stringify({
    event_id: `evt-${parcel}`,
    event_type: "parcel_shipped",
    timestamp: 1_767_225_600,
    data: { parcel_id: parcel },
  });
  const answer = await fetch(`http://127.0.0.1:${port}/hooks/api/platform/callback`, {
    method: "POST",
    body,
    headers: {
      "x-signature": signHmac(PRODUCTION.SIGNING_SECRET, Buffer.from(body)),
      "x-forwarded-proto": "https",
    },
  });
  return answer.json();
}

let image: BuiltImage;
beforeAll(async () => {
  image = await buildImage();
}, 15 * MINUTES);
afterAll(() => image?.remove());

describe("what deploy/Dockerfile builds", () => {
  it(
    "the image serves as its user with only /data writable, turns healthy, and drains on SIGTERM",
    async () => {
      await writeFile(join(image.workdir, "oncehook.config.ts"), HANDLER);
      const [port, adminPort] = [await freePort(), await freePort()];
      const env = {
        ...PRODUCTION,
        TRUST_PROXY: "127.0.0.1",
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
      };
      expect(await isHealthy(image, env)).toBe(false);
      const child = begin(image, command(image.stage), env);
      const words: string[] = [];
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => words.push(String(chunk)));
      try {
        await until(async () => {
          if (hasEnded(child)) throw new Error(`it ended with ${child.exitCode}: ${words.join("")}`);
          return isHealthy(image, env);
        }, MINUTES);
        expect(await deliver(port, "p1")).toEqual({ status: "success", data: { parcel_id: "p1" } });
        // The configuration file and the process have one module of `Rejected`: another one's would be answered 500.
        expect(await deliver(port, "lost")).toEqual({ error: "there is no such parcel" });
        const files = globSync(join(image.root, "data/*")).map((path) => [path, statSync(path).uid]);
        expect(files.length).toBeGreaterThan(0);
        expect(files.filter(([, uid]) => uid !== (image.user.uid ?? process.getuid?.()))).toEqual([]);
        const ended = once(child, "exit");
        child.kill("SIGTERM");
        expect(await ended).toEqual([0, null]);
      } finally {
        child.kill("SIGKILL");
      }
      expect(bytesOf(image, ["node_modules/**/*", "dist/**/*"])).toBeLessThan(MAX_BYTES);
      expect(globSync("node_modules/{typescript,vitest}", { cwd: image.workdir })).toEqual([]);
    },
    15 * MINUTES,
  );
});

/** As a new user has it: a project that `init` wrote, with the packed package installed. */
describe("a project that oncehook init wrote", () => {
  it(
    "the project passes its tests, drains on SIGTERM to npm start, and builds by docs/production.md",
    async () => {
      const project = await mkdtemp(join(tmpdir(), "oncehook-project-"));
      try {
        await runOncehook(["init", project]);
        await cp("templates", join(image.built, "templates"), { recursive: true });
        await npm(image.built, "pack", "--ignore-scripts", "--pack-destination", project);
        const [tarball = ""] = globSync("*.tgz", { cwd: project });
        // As a user has it, with a script policy: npm warns of each install script that it does not cover.
        const { stderr } = await npmRun(project, "install", "--omit=dev", "--no-audit", "--no-fund", `./${tarball}`);
        expect(stderr).not.toContain("install script");
        expect(await npm(project, "test")).toMatch(/pass 3\n/);
        expect(await exportsOf(project)).toEqual(["function", "function", "function"]);
        await expectDrained(project);
        await expectImageOf(project);
      } finally {
        await rm(project, { recursive: true, force: true });
      }
    },
    15 * MINUTES,
  );
});

const EXPORTS = `
import { defineHandler } from "oncehook";
import { createAdminClient } from "oncehook/admin-client";
import { startTestReceiver } from "oncehook/testing";
console.log(JSON.stringify([defineHandler, createAdminClient, startTestReceiver].map((one) => typeof one)));
`;

/** What a script of the project gets from each entry of the package's `exports`. */
async function exportsOf(project: string): Promise<unknown> {
  const args = ["--input-type=module", "--eval", EXPORTS];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: project });
  return JSON.parse(stdout);
}

const ON_PATH = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: process.env.HOME };

/** How this machine reaches the registry: behind a proxy with a certificate of its own, `npm install` retries for hours. */
const NETWORK = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => /^(NODE_EXTRA_CA_CERTS|(https?|no)_proxy)$/i.test(name)),
);

const npm = async (cwd: string, ...args: string[]): Promise<string> => (await npmRun(cwd, ...args)).stdout;

function npmRun(cwd: string, ...args: string[]) {
  const env = { ...ON_PATH, ...NETWORK, npm_config_prefer_offline: "true", NO_COLOR: "1" };
  return promisify(execFile)("npm", args, { cwd, env, maxBuffer: 1 << 26 });
}

async function expectDrained(project: string): Promise<void> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const env = { ...ON_PATH, PORT: String(port), ADMIN_PORT: String(adminPort) };
  const child = spawn("npm", ["start"], { cwd: project, env, stdio: ["ignore", "pipe", "ignore"] });
  const output = text(child.stdout);
  const isReady = () =>
    fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  const ended = once(child, "exit");
  await until(isReady, MINUTES).finally(() => child.kill("SIGTERM"));
  expect(await ended).toEqual([0, null]);
  expect(await output).toMatch(/"msg":"draining"[\s\S]+"msg":"stopped"/);
  // No process that npm left behind answers any more.
  expect(await isReady()).toBe(false);
}

/** Its `migrate` loads the configuration, the handlers and what they import. */
async function expectImageOf(project: string): Promise<void> {
  const own = await buildImage(PROJECT_DOCKERFILE, project);
  try {
    const [program = "", ...args] = command(own.stage).slice(0, -1);
    const env = { ...own.env, ...PRODUCTION, DATABASE_URL: own.env.DATABASE_URL };
    const options = { cwd: own.workdir, env, ...own.user };
    const { stdout } = await promisify(execFile)(program, [...args, "migrate"], options);
    expect(stdout).toContain("applied parcels\n");
    expect(bytesOf(own, ["**/*"])).toBeLessThan(MAX_BYTES);
    expect(globSync("node_modules/{node,typescript}", { cwd: own.workdir })).toEqual([]);
  } finally {
    await own.remove();
  }
}

function bytesOf({ workdir }: BuiltImage, patterns: string[]): number {
  return globSync(patterns, { cwd: workdir })
    .map((path) => statSync(join(workdir, path)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;
