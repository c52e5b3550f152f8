import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { chmod, copyFile, cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { DOCKERFILE, type Stage, saidBy, stages } from "./dockerfile.ts";

const run = promisify(execFile);
const IS_ROOT = process.getuid?.() === 0;

/** What stands for the file system of an image: a folder, the program `node` in its `bin`. */
export interface BuiltImage {
  readonly root: string;
  readonly stage: Stage;
  /** The folder in which the stage before was built. */
  readonly built: string;
  /** The folder in which its process starts. */
  readonly workdir: string;
  /** What ENV and the base image set, its paths in the folder. */
  readonly env: Record<string, string>;
  /** The user that USER says, where this process may become another one. */
  readonly user: { readonly uid?: number; readonly gid?: number };
  remove(): Promise<void>;
}

/**
 * Does what a Dockerfile of two stages says without an engine: each stage is a folder, COPY copies, RUN is run as it stands, an
 * absolute path being one in the folder. What nobody has run in this way is the base image.
 * @param context the folder that is built
 */
export async function buildImage(dockerfile = DOCKERFILE, context = process.cwd()): Promise<BuiltImage> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-image-"));
  try {
    // For everybody to read, as the file system of an image is.
    await chmod(folder, 0o755);
    const [build, final] = stages(dockerfile) as [Stage, Stage];
    const built = join(folder, "build");
    await perform(build, built, { context, stage: built });
    const root = join(folder, "final");
    await mkdir(join(root, "bin"), { recursive: true });
    await copyFile(process.execPath, join(root, "bin/node"));
    await perform(final, root, { context, stage: built });
    const pairs = saidBy(final, "ENV").split(" ");
    const env = Object.fromEntries(pairs.map((pair) => pair.split("=") as [string, string]));
    const [uid, gid] = saidBy(final, "USER").split(":").map(Number);
    return {
      root,
      stage: final,
      built: within(built, saidBy(build, "WORKDIR")),
      workdir: within(root, saidBy(final, "WORKDIR")),
      env: {
        ...env,
        DATABASE_URL: `sqlite:${within(root, (env.DATABASE_URL ?? "").replace("sqlite:", ""))}`,
        PATH: join(root, "bin"),
        HOME: "/",
        HOSTNAME: "a1b2c3d4e5f6",
        NODE_VERSION: process.versions.node,
        YARN_VERSION: "1.22.22",
      },
      user: IS_ROOT && uid !== undefined && gid !== undefined ? { uid, gid } : {},
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Where COPY takes files from: the folder that is built, or with --from the stage before. */
interface Sources {
  readonly context: string;
  readonly stage: string;
}

const within = (root: string, path: string) => join(root, path);

async function perform(stage: Stage, root: string, sources: Sources): Promise<void> {
  const workdir = within(root, saidBy(stage, "WORKDIR"));
  await mkdir(workdir, { recursive: true });
  for (const { name, value } of stage.instructions) {
    if (name === "COPY") await copy(value, sources, workdir);
    if (name === "RUN") await inShell(value, root, workdir);
  }
}

async function copy(value: string, { context, stage }: Sources, workdir: string): Promise<void> {
  const folder = value.includes("--from=") ? stage : context;
  const words = value.split(" ").filter((word) => !word.startsWith("--"));
  const to = words.pop() ?? "";
  for (const from of words.flatMap((word) => (word.includes("*") ? globSync(word, { cwd: folder }) : [word]))) {
    const target = to.endsWith("/") ? join(workdir, to, basename(from)) : join(workdir, to);
    await cp(join(folder, from), target, { recursive: true, verbatimSymlinks: true });
  }
}

async function inShell(line: string, root: string, workdir: string): Promise<void> {
  // An owner can be given by root alone.
  const own = IS_ROOT ? line : line.replaceAll(/ -[og] \d+/g, "");
  const command = own.replaceAll(/ (\/\w+)/g, (_all, path: string) => ` ${within(root, path)}`);
  const { CI: _ci, npm_config_loglevel: _level, ...env } = process.env;
  // What is in npm's cache already need not come over the network again.
  const settings = { npm_config_prefer_offline: "true", PATH: `${dirname(process.execPath)}:${env.PATH}` };
  await run("sh", ["-c", command], { cwd: workdir, env: { ...env, ...settings }, maxBuffer: 1 << 26 });
}
