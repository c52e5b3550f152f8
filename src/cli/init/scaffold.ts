import { lstat, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CONFIG_FILE_NAMES } from "../../config/index.ts";
import { fileErrorText } from "../../domain/index.ts";
import { PACKAGE_FOLDER, packageManifest } from "../own-package.ts";
import { UserError } from "../user-error.ts";

export interface Scaffolded {
  readonly written: readonly string[];
  /** Files of the user's that are as they were. */
  readonly kept: readonly string[];
}

/**
 * Writes a project's first files. Nothing is written where one of them is there already.
 * @throws UserError that names those
 */
export async function scaffold(folder: string): Promise<Scaffolded> {
  const own = await ownFiles();
  const inTheWay = await present(folder, [
    ...new Set([...own.map(({ path }) => path), ...CONFIG_FILE_NAMES]),
  ]);
  if (inTheWay.length > 0) {
    throw new UserError(
      `${inTheWay.join(", ")}: already in ${folder}, and nothing is written over. Nothing was changed; name an empty ` +
        "folder, or take the files away first",
    );
  }
  const around = await sharedFiles(folder);
  const kept = await present(
    folder,
    around.map(({ path }) => path),
  );
  // Read before anything is written: what cannot be read must not be found out half way.
  const ignore = await ignoreFile(folder);
  const files = [...own, ...around.filter(({ path }) => !kept.includes(path))];
  for (const file of files) await write(folder, file, "wx");
  if (ignore === undefined) return { written: files.map(({ path }) => path), kept: [...kept, ".gitignore"] };
  await write(folder, ignore, "w");
  return { written: [...files, ignore].map(({ path }) => path), kept };
}

async function present(folder: string, paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map(async (path) => ((await isFree(join(folder, path))) ? [] : [path])),
  );
  return found.flat();
}

/** False also where a file stands in the place of a folder, and for a link that leads nowhere. */
async function isFree(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

/** The user's own lines, and those that are missing after them; undefined where none is. */
async function ignoreFile(folder: string): Promise<ProjectFile | undefined> {
  const path = ".gitignore";
  const text = await readFile(join(folder, path), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw new UserError(`${join(folder, path)} ${fileErrorText(error)}; nothing was changed`, {
      cause: error,
    });
  });
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const missing = IGNORED.filter((line) => !lines.includes(line));
  if (missing.length === 0) return undefined;
  const before = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return { path, text: `${before}${missing.join("\n")}\n` };
}

async function write(folder: string, { path, text }: ProjectFile, flag: "wx" | "w"): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { flag });
}

interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

const TEMPLATES = join(PACKAGE_FOLDER, "templates", "init");
const OWN = [
  "oncehook.config.ts",
  "handlers/parcel-shipped.ts",
  "test/parcel-shipped.test.ts",
  ".env.example",
] as const;

/** Without `exec`, npm's shell would keep SIGTERM from the receiver, and leave it behind. */
export const START = "exec oncehook serve";
/** Node succeeds where it finds no test at all. */
const TEST = 'ls test/*.test.ts > /dev/null && node --test "test/**/*.test.ts"';

/** Lines without which a secret or a database would end up in version control. */
const IGNORED = ["node_modules/", "data/", ".env", ".env.*", "!.env.example"] as const;

function ownFiles(): Promise<ProjectFile[]> {
  return Promise.all(OWN.map(template));
}

async function sharedFiles(folder: string): Promise<ProjectFile[]> {
  return [{ path: "package.json", text: manifestText(folder) }, await template("tsconfig.json")];
}

async function template(path: string): Promise<ProjectFile> {
  return { path, text: await readFile(join(TEMPLATES, path), "utf8") };
}

function manifestText(folder: string): string {
  const { dependencies, devDependencies, engines } = packageManifest();
  const manifest = {
    name: packageName(folder),
    version: "0.0.0",
    private: true,
    type: "module",
    engines,
    scripts: { start: START, test: TEST, types: "tsc" },
    dependencies: versionsOf(["zod"], dependencies),
    // For development alone: an image, or a server, has a Node of its own.
    devDependencies: versionsOf(["@types/node", "node", "typescript"], devDependencies),
    // The package `node` fetches its program in an install script, which npm asks about otherwise.
    allowScripts: { node: true },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

function versionsOf(names: readonly string[], from: Readonly<Record<string, string>>) {
  return Object.fromEntries(names.map((name) => [name, from[name] ?? "*"]));
}

/** npm wants lowercase letters, digits and a few signs, and not one of the latter in front. */
function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+|-+$/g, "");
  // A package of this very name could not depend on Oncehook.
  return name === "" || name === "oncehook" ? "my-receiver" : name;
}
