import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { createInterface } from "node:readline";
import { PACKAGE_FOLDER, packageManifest } from "./package-manifest.ts";
import { UserError } from "./user-error.ts";

const KINDS = {
  service: "a server of its own, started by `oncehook serve`",
  express: "an Express application",
  fastify: "a Fastify application",
  hono: "a Hono application",
  nextjs: "a Next.js application",
  nest: "a Nest application",
} as const;

export type ProjectKind = keyof typeof KINDS;
export const PROJECT_KINDS = Object.keys(KINDS) as ProjectKind[];

type Versions = Readonly<Record<string, string>>;

/** A folder of templates says in `manifest.json` what its package.json gets. */
interface Addition {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies?: Versions;
  readonly devDependencies?: Versions;
  /** The commands after the tests, each for a terminal of its own. */
  readonly run: readonly string[];
  /** Further lines of .gitignore. */
  readonly ignored?: readonly string[];
}

export interface Project extends Required<Addition> {
  /** Files that are written only where none of them is there. */
  readonly files: readonly ProjectFile[];
  readonly tsconfig: ProjectFile;
  /** False where the framework demands the names of its files. */
  readonly isRenamed: boolean;
  /** The receiver is in an application, which reads `.env`. */
  readonly isApplication: boolean;
}

export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

/** Those that every project needs, in the versions that Oncehook is tested with. */
const PACKAGES = ["zod"];
const DEVELOPMENT = ["@types/node", "node", "typescript"];

const FIXED_NAMES: readonly string[] = ["nextjs", "nest"];
const MANIFEST = "manifest.json";
const TSCONFIG = "tsconfig.json";

export function projectOf(kind: ProjectKind): Project {
  const isApplication = kind !== "service";
  const folders = isApplication ? ["init", "application", kind] : ["init"];
  // A later folder's file takes the place of an earlier one's; of the service only its tsconfig.json is common.
  const texts = new Map<string, string>();
  for (const folder of folders)
    for (const [path, text] of filesOf(folder))
      if (folder !== "init" || !isApplication || path === TSCONFIG) texts.set(path, text);
  const addition = JSON.parse(texts.get(MANIFEST) ?? "{}") as Addition;
  const { devDependencies } = packageManifest();
  const isFile = (path: string) => path !== MANIFEST && path !== TSCONFIG;
  return {
    ...addition,
    ignored: addition.ignored ?? [],
    dependencies: { ...addition.dependencies, ...versionsOf(PACKAGES, { ...devDependencies }) },
    devDependencies: { ...versionsOf(DEVELOPMENT, devDependencies), ...addition.devDependencies },
    files: [...texts].filter(([path]) => isFile(path)).map(([path, text]) => ({ path, text })),
    tsconfig: { path: TSCONFIG, text: texts.get(TSCONFIG) ?? "" },
    isRenamed: !FIXED_NAMES.includes(kind),
    isApplication,
  };
}

/** Those of the top first, and those with a dot last, as a person would tell of them. */
function filesOf(folder: string): (readonly [path: string, text: string])[] {
  const cwd = join(PACKAGE_FOLDER, "templates", folder);
  const entries = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name).slice(cwd.length + 1));
  const rank = (path: string) => `${path.startsWith(".") ? 2 : Number(path.includes(sep))}${path}`;
  const sorted = paths.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1));
  return sorted.map((path) => [path, readFileSync(join(cwd, path), "utf8")]);
}

function versionsOf(names: readonly string[], from: Versions): Versions {
  return Object.fromEntries(names.map((name) => [name, from[name] ?? "*"]));
}

/**
 * Asks a person, again after an answer that is neither a number nor a name. An empty line is the service.
 * @throws UserError at the end of the input
 */
export async function askKind(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Promise<ProjectKind> {
  const list = PROJECT_KINDS.map((kind, index) => `  ${index + 1}  ${kind.padEnd(8)} ${KINDS[kind]}\n`).join("");
  output.write(`What is it for?\n\n${list}\n`);
  const lines = createInterface({ input, output, prompt: "Number or name [service]: " });
  lines.prompt();
  try {
    for await (const line of lines) {
      const answer = line.trim();
      const kind = answer === "" ? "service" : (PROJECT_KINDS[Number(answer) - 1] ?? answer);
      if (Object.hasOwn(KINDS, kind)) return kind as ProjectKind;
      lines.prompt();
    }
  } finally {
    lines.close();
  }
  throw new UserError(`nothing was chosen, and nothing was written; choose with --for: ${PROJECT_KINDS.join(", ")}`);
}
