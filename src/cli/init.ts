import { existsSync, readFileSync } from "node:fs";
import { lstat, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { CONFIG_FILE_NAMES } from "../config/index.ts";
import { fileErrorText, shellWord } from "../domain/index.ts";
import { PACKAGE_FOLDER, packageManifest } from "./package-manifest.ts";
import { LEAST_NODE } from "./unfit-node.js";
import { UserError } from "./user-error.ts";

export async function init(named: string): Promise<void> {
  const folder = resolve(named);
  if (folder === resolve(PACKAGE_FOLDER))
    throw new UserError("this is Oncehook's own folder; name the one of your project, such as: init ../my-receiver");
  // Read first: invalid JSON is reported before anything is written.
  manifestIn(folder);
  const { written, kept } = await scaffold(folder);
  const yours = kept.length === 0 ? "" : `\nYours, and left as it was: ${kept.join(", ")}\n`;
  process.stdout.write(
    `Written to ${folder}:\n\n${indented(written)}${yours}\nNext:\n\n${indented(nextSteps(folder))}\n`,
  );
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join("");
}

interface Manifest {
  readonly type?: string;
  /** There is no package.json yet. */
  readonly isAbsent?: true;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

const SAMPLE = `npx oncehook send parcel_shipped --data '{"parcel_id":"p1","weight_grams":250}'`;

/**
 * The commands that come next, to be typed in the current folder, one after the other. A package.json that was there is not
 * changed: what it lacks is typed.
 */
function nextSteps(folder: string): string[] {
  const place = relative(process.cwd(), folder);
  const manifest = manifestIn(folder);
  const { scripts = {}, dependencies = {}, devDependencies = {} } = manifest;
  const has = (name: string) => dependencies[name] !== undefined || devDependencies[name] !== undefined;
  // The one that init wrote has all of it.
  const isOwn = scripts.start === START;
  return [
    ...(place === "" ? [] : [`cd ${shellWord(place)}`]),
    ...installSteps(folder, has("zod") ? "" : " zod"),
    ...(isOwn || has("node") ? [] : ["npm install --save-dev --allow-scripts=node node@24"]),
    ...(scripts.start === undefined ? [`npm pkg set scripts.start=${shellWord(START)}`] : []),
    isOwn ? "npm test" : RUN_TESTS.replace(".test.ts", `.test${extensionFor(manifest)}`),
    isOwn || scripts.start === undefined ? "npm start" : "node_modules/.bin/oncehook serve",
    `${SAMPLE}    # in another terminal`,
  ];
}

function installSteps(folder: string, zod: string): string[] {
  if (isInstalled(folder)) return [`npm install${zod}`];
  const source = shellWord(relative(folder, PACKAGE_FOLDER) || ".");
  // An installed package holds what its build wrote, and not what the build needs.
  const pack = PACKAGE_FOLDER.includes(`${sep}node_modules${sep}`)
    ? `npm pack --ignore-scripts ${source}`
    : `mv ${source}/"$(npm run -s pack --prefix ${source})" .`;
  return [pack, `npm install ./oncehook-*.tgz${zod}`];
}

/**
 * `type=module` would break the other files of a CommonJS project. Node runs `.mts` as an ES module in either.
 * Without a package.json, init writes one of an ES module.
 */
function extensionFor({ type, isAbsent }: Manifest): ".ts" | ".mts" {
  return type === "module" || isAbsent === true ? ".ts" : ".mts";
}

function withExtension(file: ProjectFile, extension: ".ts" | ".mts"): ProjectFile {
  if (!MODULES.includes(file.path)) return file;
  const text = file.text.replace(/(?<=from "\.[^"]*)\.ts(?=")/g, extension);
  return { path: file.path.replace(/\.ts$/, extension), text };
}

/** The package.json of the folder. @throws UserError where it is none */
function manifestIn(folder: string): Manifest {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return { isAbsent: true };
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new UserError(`${file}: is no JSON that can be read; nothing was changed`, { cause });
  }
}

/** As Node looks for a package: here, and in every folder above. */
function isInstalled(folder: string): boolean {
  const here = resolve(folder);
  if (existsSync(join(here, "node_modules", "oncehook", "package.json"))) return true;
  return dirname(here) === here ? false : isInstalled(dirname(here));
}

/**
 * Writes a project's first files. Nothing is written where one of them is there already.
 * @throws UserError that names those
 */
async function scaffold(folder: string) {
  const extension = extensionFor(manifestIn(folder));
  const own = (await Promise.all(OWN.map(template))).map((file) => withExtension(file, extension));
  const paths = own.map(({ path }) => path);
  const inTheWay = await present(folder, [...new Set([...paths, ...CONFIG_FILE_NAMES])]);
  if (inTheWay.length > 0)
    throw new UserError(
      `${inTheWay.join(", ")}: already in ${folder}, and nothing is written over. Nothing was changed; name an empty ` +
        "folder, or take the files away first",
    );
  const shared = [{ path: "package.json", text: manifestText(folder) }, await template("tsconfig.json")];
  const kept = await present(folder, ["package.json", "tsconfig.json"]);
  // Read before anything is written: what cannot be read must not be found out half way.
  const ignore = await ignoreFile(folder);
  const files = [...own, ...shared.filter(({ path }) => !kept.includes(path))];
  for (const file of files) await write(folder, file, "wx");
  for (const file of ignore) await write(folder, file, "w");
  return {
    written: [...files, ...ignore].map(({ path }) => path),
    kept: ignore.length === 0 ? [...kept, IGNORE_FILE] : kept,
  };
}

/** The paths that exist, even as a link that leads nowhere, or that cannot be looked at. */
async function present(folder: string, paths: readonly string[]): Promise<string[]> {
  const found = paths.map((path) =>
    lstat(join(folder, path)).then(
      () => [path],
      ({ code }: NodeJS.ErrnoException) => (code === "ENOENT" ? [] : [path]),
    ),
  );
  return (await Promise.all(found)).flat();
}

/** The user's own lines, and those that are missing after them; empty where none is. */
async function ignoreFile(folder: string): Promise<ProjectFile[]> {
  const file = join(folder, IGNORE_FILE);
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return "";
    throw new UserError(`${file} ${fileErrorText(cause)}; nothing was changed`, { cause });
  });
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const missing = IGNORED.filter((line) => !lines.includes(line));
  if (missing.length === 0) return [];
  const before = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return [{ path: IGNORE_FILE, text: `${before}${missing.join("\n")}\n` }];
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
const MODULES = ["oncehook.config.ts", "handlers/parcel-shipped.ts", "test/parcel-shipped.test.ts"];
const OWN = [...MODULES, ".env.example", ".env.test"];

/** Without `exec`, npm's shell would keep SIGTERM from the receiver, and leave it behind. */
const START = "exec oncehook serve";
/** With the made-up secrets of the sources: the real ones in .env are for no test. */
const RUN_TESTS = 'node --env-file-if-exists=.env.test --test "test/**/*.test.ts"';
/** Node succeeds where it finds no test at all. */
const TEST = `ls test/*.test.ts > /dev/null && ${RUN_TESTS}`;

const IGNORE_FILE = ".gitignore";
/** Lines without which a secret or a database would end up in version control. */
const IGNORED = ["node_modules/", "data/", ".env", ".env.*", "!.env.example", "!.env.test"] as const;

async function template(path: string): Promise<ProjectFile> {
  return { path, text: await readFile(join(TEMPLATES, path), "utf8") };
}

function manifestText(folder: string): string {
  const { devDependencies } = packageManifest();
  const manifest = {
    name: packageName(folder),
    version: "0.0.0",
    private: true,
    type: "module",
    engines: { node: `>=${LEAST_NODE.join(".")}` },
    scripts: { start: START, test: TEST, types: "tsc" },
    dependencies: versionsOf(["zod"], devDependencies),
    // Only for development: an image, or a server, has a Node of its own.
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
