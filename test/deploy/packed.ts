import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** How this machine reaches the registry: behind a proxy with a certificate of its own, `npm install` retries for hours. */
const NETWORK = /^(NODE_EXTRA_CA_CERTS|(https?|no)_proxy|HOME)$/i;

export interface Packed {
  readonly folder: string;
  /** The path of the archive. */
  readonly archive: string;
  remove(): Promise<void>;
}

/** What `npm pack` writes for the files of this clone, made in a folder of its own: others read `dist/` meanwhile. */
export async function pack(): Promise<Packed> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-packed-"));
  const clone = join(folder, "clone");
  const own = globSync("*", { exclude: ["node_modules", "dist", "bench", "interop", "frameworks", "test", "data"] });
  await mkdir(clone);
  for (const name of own) await cp(name, join(clone, name), { recursive: true });
  await symlink(resolve("node_modules"), join(clone, "node_modules"));
  await npm(clone, "pack", "--pack-destination", folder);
  const [archive = ""] = globSync(join(folder, "*.tgz"));
  return { folder, archive, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** A folder with these packages installed, as an application has them. */
export async function installed(folder: string, packages: readonly string[]): Promise<string> {
  await mkdir(folder);
  // The package `node` fetches its program in an install script.
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ private: true, allowScripts: { node: true, bun: true } }),
  );
  await npm(folder, "install", "--no-audit", "--no-fund", "--ignore-scripts=false", ...packages);
  return folder;
}

export async function npm(cwd: string, ...args: string[]): Promise<string> {
  const network = Object.entries(process.env).filter(([name]) => NETWORK.test(name));
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
  const env = { ...Object.fromEntries(network), PATH, npm_config_prefer_offline: "true", NO_COLOR: "1" };
  const { stdout } = await run("npm", args, { cwd, env, maxBuffer: 1 << 26 });
  return stdout;
}

/** What a program printed, also where it failed. */
export async function outputOf(program: string, args: readonly string[], cwd: string): Promise<string> {
  return run(program, args, { cwd, maxBuffer: 1 << 26, env: { PATH: process.env.PATH, NO_COLOR: "1" } }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => `${stdout}${stderr}`,
  );
}
