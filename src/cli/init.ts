import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { lstat, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { CONFIG_FILE_NAMES } from "../config/index.ts";
import { fileErrorText, shellWord } from "../domain/index.ts";
import { PACKAGE_FOLDER } from "./package-manifest.ts";
import { askKind, type Project, type ProjectFile, type ProjectKind, projectOf } from "./project-kinds.ts";
import { LEAST_NODE } from "./unfit-node.js";
import { UserError } from "./user-error.ts";

export interface InitOptions {
  /** Asked for where a person is at the terminal; a service otherwise. */
  readonly kind?: ProjectKind | undefined;
}

export async function init(named: string, options: InitOptions = {}): Promise<void> {
  const folder = resolve(named);
  if (folder === resolve(PACKAGE_FOLDER))
    throw new UserError("this is Oncehook's own folder; name the one of your project, such as: init ../my-receiver");
  // Read first: invalid JSON is reported before anything is written.
  const before = manifestIn(folder);
  const isAtTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const kind = options.kind ?? (isAtTerminal ? await askKind(process.stdin, process.stdout) : "service");
  const project = projectOf(kind);
  const { written, kept } = await scaffold(folder, project, before);
  const yours = kept.length === 0 ? "" : `\nYours, and left as it was: ${kept.join(", ")}\n`;
  const next = nextSteps(folder, project, { before, isEnvKept: kept.includes(ENV_FILE) });
  process.stdout.write(`Written to ${folder}:\n\n${indented(written)}${yours}\nNext:\n\n${indented(next)}\n`);
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join("");
}

interface Manifest {
  readonly version?: string;
  readonly type?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

/** Without a package.json, or with one that npm made for its first package, init writes it. */
function isOurs(manifest: Manifest | undefined): boolean {
  return manifest === undefined || Object.keys(manifest).join() === "dependencies";
}

interface Found {
  readonly before: Manifest | undefined;
  readonly isEnvKept: boolean;
}

/**
 * The commands that come next, to be typed in the current folder, one after the other. A package.json of the user is not
 * changed: what it lacks is typed.
 */
function nextSteps(folder: string, project: Project, { before, isEnvKept }: Found): string[] {
  const place = relative(process.cwd(), folder);
  const { scripts, dependencies, devDependencies, run } = project;
  const first = place === "" ? [] : [`cd ${shellWord(place)}`];
  if (before === undefined || isOurs(before)) return [...first, ...installSteps(folder, ""), "npm test", ...run];
  const has = (name: string) =>
    before.dependencies?.[name] !== undefined || before.devDependencies?.[name] !== undefined;
  const lacking = (names: object) => Object.keys(names).filter((name) => !has(name));
  const own = has("oncehook") ? [] : dependencyWord(installedSpec(folder));
  const packages = [...own, ...lacking(dependencies)].map((name) => ` ${name}`);
  const { node: _node, ...tools } = devDependencies;
  const development = project.isApplication ? lacking(tools) : [];
  const [start = "", ...samples] = run;
  const runsTests = String(scripts.test).split(" && ").at(-1) ?? "";
  return [
    ...first,
    ...installSteps(folder, packages.join("")),
    ...(development.length === 0 ? [] : [`npm install --save-dev ${development.join(" ")}`]),
    ...(has("node") ? [] : ["npm install --save-dev --allow-scripts=node node@24"]),
    // A file of the user may lack the end of its last line.
    ...(isEnvKept
      ? [`printf '\\n%s\\n' "${KEY}=$(openssl rand -base64 32)" >> ${ENV_FILE}    # and the rest of .env.example`]
      : []),
    ...(before.scripts?.start === undefined
      ? [`npm pkg set scripts.start=${shellWord(withExtension(scripts.start ?? "", project, before))}`]
      : []),
    withExtension(runsTests, project, before),
    before.scripts?.start === undefined || project.isApplication ? start : "node_modules/.bin/oncehook serve",
    ...samples,
  ];
}

function installSteps(folder: string, packages: string): string[] {
  if (installedSpec(folder) !== undefined) return [`npm install${packages}`];
  const source = shellWord(relative(folder, PACKAGE_FOLDER) || ".");
  // An installed package holds what its build wrote, and not what the build needs.
  const pack = PACKAGE_FOLDER.includes(`${sep}node_modules${sep}`)
    ? `npm pack --ignore-scripts ${source}`
    : `mv ${source}/"$(npm run -s pack --prefix ${source})" .`;
  return [pack, `npm install ./oncehook-*.tgz${packages}`];
}

/**
 * `type=module` would break the other files of a CommonJS project. Node runs `.mts` as an ES module in either.
 * The package.json that init writes is one of an ES module.
 */
function withExtension(text: string, { isRenamed }: Project, before: Manifest | undefined): string {
  if (!isRenamed || isOurs(before) || before?.type === "module") return text;
  return text.replace(/\.ts(?="|$)/g, ".mts");
}

/** Its name, and those of the modules that it imports. */
function renamed({ path, text }: ProjectFile, project: Project, before: Manifest | undefined): ProjectFile {
  if (!path.endsWith(".ts")) return { path, text };
  const imports = /(?<=(?:from|import\() ?"\.[^"]*)\.ts(?=")/g;
  const extension = withExtension(".ts", project, before);
  return { path: withExtension(path, project, before), text: text.replace(imports, extension) };
}

/** The package.json of the folder, if there is one. @throws UserError where it is none */
function manifestIn(folder: string): Manifest | undefined {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new UserError(`${file}: is no JSON that can be read; nothing was changed`, { cause });
  }
}

/**
 * How the project that has Oncehook installed depends on it, as it is written here. As Node looks for a package, it is
 * looked for here and in every folder above. Undefined where it is in none.
 */
function installedSpec(folder: string, above = resolve(folder)): string | undefined {
  const installed = manifestIn(join(above, "node_modules", "oncehook"));
  if (installed === undefined) return dirname(above) === above ? undefined : installedSpec(folder, dirname(above));
  const { dependencies, devDependencies } = manifestIn(above) ?? {};
  const spec = dependencies?.oncehook ?? devDependencies?.oncehook ?? installed.version ?? "*";
  // A relative path is from that folder.
  return spec.replace(/^file:(.+)$/, (_, path: string) => `file:${relative(resolve(folder), resolve(above, path))}`);
}

/** For the command line of npm. */
function dependencyWord(spec: string | undefined): string[] {
  return spec === undefined ? [] : [shellWord(spec.startsWith("file:") ? spec : `oncehook@${spec}`)];
}

/**
 * Writes a project's first files. Nothing is written where one of them is there already.
 * @throws UserError that names those
 */
async function scaffold(folder: string, project: Project, before: Manifest | undefined) {
  const own = project.files.map((file) => renamed(file, project, before));
  const paths = own.map(({ path }) => path);
  const inTheWay = await present(folder, [...new Set([...paths, ...CONFIG_FILE_NAMES])]);
  if (inTheWay.length > 0)
    throw new UserError(
      `${inTheWay.join(", ")}: already in ${folder}, and nothing is written over. Nothing was changed; name an empty ` +
        "folder, or take the files away first",
    );
  const shared = [project.tsconfig, ...(project.isApplication ? [{ path: ENV_FILE, text: envText(project) }] : [])];
  const manifest = { path: MANIFEST, text: manifestText(folder, project, before) };
  const isCompleted = before !== undefined && isOurs(before);
  const kept = await present(folder, [...(isCompleted ? [] : [MANIFEST]), ...shared.map(({ path }) => path)]);
  // Read before anything is written: what cannot be read must not be found out half way.
  const ignore = await ignoreFile(folder, project);
  const files = [...own, ...[manifest, ...shared].filter(({ path }) => !kept.includes(path))];
  for (const file of files) await write(folder, file, isCompleted && file === manifest ? "w" : "wx");
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
async function ignoreFile(folder: string, { ignored }: Project): Promise<ProjectFile[]> {
  const file = join(folder, IGNORE_FILE);
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return "";
    throw new UserError(`${file} ${fileErrorText(cause)}; nothing was changed`, { cause });
  });
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const missing = [...IGNORED, ...ignored].filter((line) => !lines.includes(line));
  if (missing.length === 0) return [];
  const before = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return [{ path: IGNORE_FILE, text: `${before}${missing.join("\n")}\n` }];
}

async function write(folder: string, { path, text }: ProjectFile, flag: "wx" | "w"): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { flag });
}

const MANIFEST = "package.json";
const ENV_FILE = ".env";
const KEY = "ONCEHOOK_ENCRYPTION_KEY";

/** The example with a key and an open page. Its secret, in place of the platform's, is one that no sender knows. */
function envText({ files }: Project): string {
  const example = files.find(({ path }) => path === ".env.example")?.text ?? "";
  const secret = () => randomBytes(32).toString("base64");
  return example
    .replace(`${KEY}=\n`, `${KEY}=${secret()}\n`)
    .replace("STRIPE_SECRET=\n", `STRIPE_SECRET=whsec_${secret()}\n`)
    .replace("ADMIN_PAGE=\n", "ADMIN_PAGE=open\n");
}

const IGNORE_FILE = ".gitignore";
/** Lines without which a secret or a database would end up in version control. */
const IGNORED = ["node_modules/", "data/", ".env", ".env.*", "!.env.example", "!.env.test"] as const;

function manifestText(folder: string, project: Project, before: Manifest | undefined): string {
  const spec = installedSpec(folder);
  const manifest = {
    name: packageName(folder),
    version: "0.0.0",
    private: true,
    type: "module",
    engines: { node: `>=${LEAST_NODE.join(".")}` },
    scripts: project.scripts,
    // Else the install command that is printed adds it.
    dependencies: { ...(spec && { oncehook: spec }), ...before?.dependencies, ...project.dependencies },
    // Only for development: an image, or a server, has a Node of its own.
    devDependencies: project.devDependencies,
    // The package `node` fetches its program in an install script, which npm asks about otherwise.
    allowScripts: { node: true },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
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
