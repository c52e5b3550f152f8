import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const IMPORT = /^(?:import|export)\b[^;]*?["'](\.[^"']+)["'];$/gm;
const PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** What an import of a built file loads, before anything of it is called: the file, and all that it names at its top. */
export function loadedCode(file: string): { readonly bytes: number; readonly packages: readonly string[] } {
  const files = new Set([file]);
  for (const one of files)
    for (const [, path = ""] of readFileSync(one, "utf8").matchAll(IMPORT)) files.add(join(dirname(one), path));
  const maps = [...files].flatMap((one) => sourcesOf(one));
  const packages = maps.flatMap((source) => PACKAGE.exec(source)?.[1] ?? []);
  const bytes = [...files].reduce((sum, one) => sum + readFileSync(one).length, 0);
  return { bytes, packages: [...new Set(packages)].sort() };
}

/** A file that only passes on what others export has no map. */
function sourcesOf(file: string): readonly string[] {
  try {
    return (JSON.parse(readFileSync(`${file}.map`, "utf8")) as { sources: string[] }).sources;
  } catch {
    return [];
  }
}
