import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { Command } from "commander";
import { shellWord } from "../../domain/index.ts";
import { PACKAGE_FOLDER, packageManifest } from "../own-package.ts";
import { UserError } from "../user-error.ts";
import { type Scaffolded, START, scaffold } from "./scaffold.ts";

export function initCommand(): Command {
  return new Command("init")
    .description(
      "Write the first files of a project: configuration, a handler, its test. Nothing is written over.",
    )
    .argument("[folder]", "the project's folder, made where there is none", ".")
    .action(init);
}

async function init(named: string): Promise<void> {
  const folder = resolve(named);
  if (folder === resolve(PACKAGE_FOLDER)) {
    throw new UserError(
      "this is Oncehook's own folder; name the one of your project, such as: init ../my-receiver",
    );
  }
  // Read first: invalid JSON is reported before anything is written.
  manifestIn(folder);
  const done = await scaffold(folder);
  process.stdout.write(`${report(folder, done)}\nNext:\n\n${indented(nextSteps(folder))}\n`);
}

function report(folder: string, { written, kept }: Scaffolded): string {
  const yours = kept.length === 0 ? "" : `\nYours, and left as it was: ${kept.join(", ")}\n`;
  return `Written to ${folder}:\n\n${indented(written)}${yours}`;
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join("");
}

interface Manifest {
  readonly type?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

const SAMPLE = `npx oncehook send parcel_shipped --data '{"parcel_id":"p1","weight_grams":250}'`;

/** The commands that come next, to be typed in the current folder, one after the other. */
function nextSteps(folder: string): string[] {
  const place = relative(process.cwd(), folder);
  return [
    ...(place === "" ? [] : [`cd ${shellWord(place)}`]),
    ...packageSteps(folder),
    ...runSteps(folder),
    `${SAMPLE}    # in another terminal`,
  ];
}

/** An existing package.json is not changed: what it lacks is typed. */
function runSteps(folder: string): string[] {
  if (!existsSync(join(folder, "package.json"))) return ["npm test", "npm start"];
  const { scripts = {}, dependencies = {}, devDependencies = {} } = manifestIn(folder);
  // The one that init wrote has all of it.
  if (scripts.start === START) return ["npm test", "npm start"];
  const hasNode = dependencies.node !== undefined || devDependencies.node !== undefined;
  const node = hasNode ? [] : ["npm install --save-dev --allow-scripts=node node@24"];
  if (scripts.start !== undefined)
    return [...node, 'node --test "test/**/*.test.ts"', "node_modules/.bin/oncehook serve"];
  return [
    ...node,
    `npm pkg set scripts.start=${shellWord(START)}`,
    'node --test "test/**/*.test.ts"',
    "npm start",
  ];
}

function packageSteps(folder: string): string[] {
  const manifest = manifestIn(folder);
  const isMissing = manifest.dependencies?.zod === undefined && manifest.devDependencies?.zod === undefined;
  const zod = isMissing ? " zod" : "";
  const module = manifest.type === "module" ? [] : ["npm pkg set type=module"];
  if (isInstalled(folder)) return [...module, `npm install${zod}`];
  const tarball = `oncehook-${packageManifest().version}.tgz`;
  // An installed package holds what its build wrote, and not what the build needs.
  const flags = PACKAGE_FOLDER.includes(`${sep}node_modules${sep}`) ? " --ignore-scripts" : "";
  const source = shellWord(relative(folder, PACKAGE_FOLDER) || ".");
  return [...module, `npm pack${flags} ${source}`, `npm install ./${tarball}${zod}`];
}

/** The package.json of the folder. @throws UserError where it is none */
function manifestIn(folder: string): Manifest {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return {};
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
