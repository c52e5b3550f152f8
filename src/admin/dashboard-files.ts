import { readdir, readFile } from "node:fs/promises";

/** How a file lies on the disk: compressed when the page was built, and as it is for those who take nothing else. */
const ENCODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

export interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly compressed: readonly (readonly [encoding: string, bytes: Buffer])[];
}

export interface Dashboard {
  /** With CSP_NONCE wherever an answer has its nonce. */
  readonly html: string;
  /** By their names, which change with what they hold. */
  readonly assets: ReadonlyMap<string, Asset>;
}

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** Reads the built page; undefined where there is none. About 3 MB, so that no answer reads a file again. */
export async function readDashboard(folder: URL): Promise<Dashboard | undefined> {
  const html = await readFile(new URL("index.html", folder), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (html === undefined) return undefined;
  const assets = new URL("assets/", folder);
  const names = new Set(await readdir(assets));
  const originals = [...names].filter((name) => typeOf(name) !== undefined);
  const read = originals.map(async (name) => [name, await readAsset(name, names, assets)] as const);
  return { html, assets: new Map(await Promise.all(read)) };
}

async function readAsset(name: string, names: ReadonlySet<string>, folder: URL): Promise<Asset> {
  const read = (ending: string) => readFile(new URL(name + ending, folder));
  const there = ENCODINGS.filter(([, ending]) => names.has(name + ending));
  const compressed = there.map(async ([encoding, ending]) => [encoding, await read(ending)] as const);
  return { type: typeOf(name) ?? "", plain: await read(""), compressed: await Promise.all(compressed) };
}

function typeOf(name: string): string | undefined {
  return TYPES[name.slice(name.lastIndexOf(".") + 1)];
}
