import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { type ProjectKind, projectOf } from "../../src/cli/project-kinds.ts";

/** The pages whose application `oncehook init --for` writes; frameworks/init runs it. The others run by themselves. */
const PAGES = ["express", "fastify", "nest"].map((kind) => `docs/frameworks/${kind}.md`);

/** The blocks that name a file, such as ```` ```ts handlers/invoice-paid.ts ````. */
function fileBlocks(page: string): [path: string, text: string][] {
  const blocks = readFileSync(page, "utf8").matchAll(/```\w+ ([\w./[\]-]+\.\w+)\n([\s\S]*?)```/g);
  return Array.from(blocks, ([, path = "", text = ""]) => [path, text]);
}

describe("the pages of frameworks", () => {
  it.each(PAGES)("each file that %s shows is one that oncehook init writes", (page) => {
    const { files, tsconfig } = projectOf(basename(page, ".md") as ProjectKind);
    const written = new Map([...files, tsconfig].map(({ path, text }) => [path, text]));
    const blocks = fileBlocks(page);
    expect(blocks.length).toBeGreaterThanOrEqual(3);
    expect(Object.fromEntries(blocks)).toEqual(Object.fromEntries(blocks.map(([path]) => [path, written.get(path)])));
  });
});
