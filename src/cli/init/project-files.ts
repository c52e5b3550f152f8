import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { ownManifest, PACKAGE_FOLDER } from "../own-package.ts";

/** A file of the project that is made, with its path from the project's folder. */
export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

const TEMPLATES = join(PACKAGE_FOLDER, "templates", "init");
/** What only a new project can have. */
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
export const IGNORED = ["node_modules/", "data/", ".env", ".env.*", "!.env.example"] as const;

/** What `init` always writes, and for which there must be room. */
export function ownFiles(): Promise<ProjectFile[]> {
  return Promise.all(OWN.map(template));
}

/** What an existing project has already, and keeps. */
export async function surroundings(folder: string): Promise<ProjectFile[]> {
  return [{ path: "package.json", text: manifestText(folder) }, await template("tsconfig.json")];
}

async function template(path: string): Promise<ProjectFile> {
  return { path, text: await readFile(join(TEMPLATES, path), "utf8") };
}

function manifestText(folder: string): string {
  const { dependencies, devDependencies, engines } = ownManifest();
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
