import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The blocks ```` ```ts name ```` of a page, by their names. */
export function namedBlocks(page: string): ReadonlyMap<string, string> {
  const blocks = readFileSync(page, "utf8").matchAll(/```ts ([\w-]+)\n([\s\S]*?)```/g);
  return new Map(Array.from(blocks, ([, name = "", text = ""]) => [name, text]));
}

/** The blocks that name a file, such as ```` ```ts handlers/invoice-paid.ts ````, by its path. */
export function fileBlocks(page: string): Readonly<Record<string, string>> {
  const blocks = readFileSync(page, "utf8").matchAll(/```\w+ ([\w./[\]+-]+\.\w+)\n([\s\S]*?)```/g);
  return Object.fromEntries(Array.from(blocks, ([, path = "", text = ""]) => [path, text]));
}

/** Files in a folder below the project, as they would lie in a user's own: `parent` has the packages that they import. */
export async function withFiles<T>(
  files: Iterable<readonly [name: string, text: string]>,
  use: (folder: string) => Promise<T>,
  parent = "test",
): Promise<T> {
  const folder = mkdtempSync(join(process.cwd(), parent, "doc-blocks-"));
  try {
    for (const [name, text] of files) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
