import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callOnce } from "../../src/domain/index.ts";
import { namedBlocks, withFiles } from "../support/doc-blocks.ts";
import { COMPILER_LIMIT_MS, compile } from "../support/in-project.ts";

const TSCONFIG = JSON.stringify({ extends: "../../../tsconfig.json", include: ["*.ts"] });

/** Blocks by the names of their files, with which they import each other. */
type Files = readonly (readonly [name: string, text: string])[];

/** A page's blocks that have a name; `oncehook.config.ts` is the block that others import. */
const named = (page: string, config?: string): Files =>
  Array.from(namedBlocks(page), ([name, text]) => [name === config ? "oncehook.config.ts" : `${name}.ts`, text]);

/** The first block of a page without a name that holds the text. */
function unnamed(page: string, text = ""): string {
  const blocks = readFileSync(page, "utf8").matchAll(/```ts\n([\s\S]*?)```/g);
  const block = Array.from(blocks, ([, block = ""]) => block).find((block) => block.includes(text));
  if (block === undefined) throw new Error(`${page} has no block with ${JSON.stringify(text)}`);
  return block;
}

const EXAMPLES: Readonly<Record<string, Files>> = {
  "docs/start.md": named("docs/start.md", "config"),
  "docs/handlers.md": [
    ["oncehook.config.ts", unnamed("docs/handlers.md")],
    ["orders.test.ts", unnamed("docs/handlers.md", "an order is priced once")],
  ],
  "docs/sources.md and docs/own-sources.md": ["docs/sources.md", "docs/own-sources.md"].flatMap((page) =>
    named(page, "acme"),
  ),
  "docs/development.md": [
    ["parcels.test.ts", unnamed("docs/development.md")],
    ["program.ts", unnamed("docs/development.md", "loadConfig(")],
    ["try.ts", unnamed("docs/development.md", "admin.sandbox")],
  ],
  "docs/admin-api.md": [["replay.ts", unnamed("docs/admin-api.md")]],
};

/** Each in a folder below the project, as it would lie in a user's own. */
const compiled = callOnce(() =>
  withFiles([], async (parent) => {
    const folders = Object.values(EXAMPLES).map((files, index) => {
      const folder = join(parent, String(index));
      mkdirSync(folder);
      for (const [name, text] of [...files, ["tsconfig.json", TSCONFIG]] as Files)
        writeFileSync(join(folder, name), text);
      return folder;
    });
    return new Map((await compile(folders)).map((said, index) => [Object.keys(EXAMPLES)[index], said]));
  }),
);

describe("the examples of the documentation", () => {
  it.each(Object.keys(EXAMPLES))("the examples of %s compile", { timeout: COMPILER_LIMIT_MS }, async (pages) => {
    expect((await compiled()).get(pages)).toBe("");
  });
});
