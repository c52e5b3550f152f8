/** Writes the registry of presets: what each is follows from its file. `node scripts/registry.ts` */
import { execFileSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { PresetData } from "../src/sources/presets/preset.ts";

const FOLDER = "src/sources/platforms/";
const FUNCTIONS = `${FOLDER}functions.ts`;
const REGISTRY = `${FOLDER}registry.ts`;
/** They make no preset, or are made from them. */
const OTHERS = ["functions", "index", "names", "registry"].map((name) => `${FOLDER}${name}.ts`);
const PROOFS = "interop/proofs/index.ts";
const MARK = "// Written by `npm run tables` from the files in";

interface PresetFunction {
  readonly name: string;
  /** Undefined for those of generic/, which are described by their options only. */
  readonly data: PresetData | undefined;
}

/** A file with the presets that it exports. */
interface PresetFile {
  readonly path: string;
  readonly functions: readonly PresetFunction[];
  readonly types: readonly string[];
}

if (import.meta.main) for (const [path, text] of await registryFiles()) writeFileSync(path, text);

/** The texts of the generated files, by their paths. @throws Error for a preset whose function has another name */
export async function registryFiles(): Promise<ReadonlyMap<string, string>> {
  const paths = globSync(["src/sources/generic/*.ts", `${FOLDER}**/*.ts`]).filter((path) => !OTHERS.includes(path));
  const files = (await Promise.all(paths.toSorted().map(presetFile))).filter(({ functions }) => functions.length > 0);
  return new Map([
    [PROOFS, formatted(PROOFS, proofsText())],
    [FUNCTIONS, formatted(FUNCTIONS, functionsText(files))],
    [REGISTRY, formatted(REGISTRY, registryText(files.flatMap(({ functions }) => functions)))],
  ]);
}

async function presetFile(path: string): Promise<PresetFile> {
  const module = (await import(pathToFileURL(resolve(path)).href)) as Record<string, unknown>;
  const isGeneric = path.includes("/generic/");
  const functions = Object.entries(module).flatMap(([name, value]): PresetFunction[] => {
    if (isPreset(value)) return [{ name, data: value.describe() }];
    return isGeneric ? [{ name, data: undefined }] : [];
  });
  const text = readFileSync(path, "utf8");
  const declared = [...text.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name = ""]) => name);
  const renamed = [...text.matchAll(/^export type \{ (?:\w+ as )?(\w+) \}/gm)].map(([, name = ""]) => name);
  return { path, functions, types: [...declared, ...renamed] };
}

function isPreset(value: unknown): value is { describe: () => PresetData } {
  return typeof value === "function" && "describe" in value;
}

function functionsText(files: readonly PresetFile[]): string {
  const lines = files.map(({ path, functions, types }) => {
    const names = [...types.map((type) => `type ${type}`), ...functions.map(({ name }) => name)];
    const from = path.replace(FOLDER, "./").replace("src/sources/", "../");
    return `export { ${names.join(", ")} } from ${JSON.stringify(from)};\n`;
  });
  return `${MARK} platforms/ and generic/.\n\n${lines.join("")}`;
}

function registryText(functions: readonly PresetFunction[]): string {
  const enough = functions.flatMap(({ name, data }) => (isSecretEnough(data) ? [presetNameOf(name, data)] : []));
  const others = functions.filter(({ data }) => !isSecretEnough(data)).map(({ name }) => name);
  const learning = functions.flatMap(({ data }) => (data !== undefined && learns(data) ? [data.preset] : []));
  return `${MARK} platforms/ and generic/.

/** The presets that a secret is enough for. */
export const SECRET_IS_ENOUGH = ${wordLines(enough)} as const;

/** The functions of the others. */
export const WITH_OPTIONS = ${wordLines(others)};

/** The presets whose platform sends the secret itself. */
export const LEARNING = ${wordLines(learning)};
`;
}

/** A preset needs more where an option other than its secret, or its key in the place of one, must be given. */
function isSecretEnough(data: PresetData | undefined): data is PresetData {
  if (data === undefined) return false;
  const needed = Object.entries(data.options).filter(([name, need]) => need !== "optional" && name !== "secret");
  return needed.every(([name]) => data.takesPublicKey && name === "publicKey");
}

function learns({ contract: { handshakes = [] } }: PresetData): boolean {
  return handshakes.some(({ reply }) => reply.kind === "learn");
}

function presetNameOf(name: string, { preset }: PresetData): string {
  if (name === preset.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())) return preset;
  throw new Error(`the preset ${preset} is exported as ${name}: its function must have its name`);
}

function proofsText(): string {
  const PROOF = /^export const (\w+): (readonly )?PlatformProof\b/gm;
  const files = globSync("interop/proofs/*.ts")
    .toSorted()
    .map((path) => {
      const proofs = [...readFileSync(path, "utf8").matchAll(PROOF)].map(([, name = "", isList]) => ({
        name,
        isList,
      }));
      return { from: `./${basename(path)}`, proofs: proofs.filter(({ name }) => name !== "PROOFS") };
    })
    .filter(({ proofs }) => proofs.length > 0);
  const imports = files.map(
    ({ from, proofs }) => `import { ${proofs.map(({ name }) => name).join(", ")} } from "${from}";\n`,
  );
  const all = files.flatMap(({ proofs }) => proofs.map(({ name, isList }) => (isList ? `...${name}` : name)));
  return `${MARK} this folder.

import type { PlatformProof } from "../platform-proof.ts";
${imports.join("")}
/** Every preset that is called supported has its proof here. */
export const PROOFS: readonly PlatformProof[] = [${all.join(", ")}];
`;
}

/** An array of texts of several words each, so that the file is short. */
function wordLines(words: readonly string[]): string {
  const lines: string[] = [];
  for (const word of words.toSorted((one, other) => (one.toLowerCase() < other.toLowerCase() ? -1 : 1))) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > 100) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return JSON.stringify(lines);
}

function formatted(path: string, text: string): string {
  const args = ["check", "--write", `--stdin-file-path=${path}`];
  return execFileSync("node_modules/.bin/biome", args, { input: text, encoding: "utf8" });
}
