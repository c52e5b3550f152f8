import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { type ProjectKind, projectOf } from "../../src/cli/project-kinds.ts";
import { fileBlocks } from "../support/doc-blocks.ts";

/** The pages whose application `oncehook init --for` writes; frameworks/init runs it. The others run by themselves. */
const PAGES = ["express", "fastify", "nest", "hono", "nextjs"].map((kind) => `docs/frameworks/${kind}.md`);
/** Of deployments; frameworks/ builds Next.js with them. */
const NOT_WRITTEN = ["app/api/work/route.ts", "next.config.ts"];

describe("the pages of frameworks", () => {
  it.each(PAGES)("each file that %s shows is one that oncehook init writes", (page) => {
    const { files, tsconfig } = projectOf(basename(page, ".md") as ProjectKind);
    const written = new Map([...files, tsconfig].map(({ path, text }) => [path, text]));
    const blocks = Object.entries(fileBlocks(page)).filter(([path]) => !NOT_WRITTEN.includes(path));
    expect(blocks.length).toBeGreaterThanOrEqual(3);
    expect(Object.fromEntries(blocks)).toEqual(Object.fromEntries(blocks.map(([path]) => [path, written.get(path)])));
  });
});
