import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runNode } from "../support/in-project.ts";

const blocks = [...readFileSync("docs/handlers.md", "utf8").matchAll(/```ts\n([\s\S]*?)```/g)].map(
  ([, block = ""]) => block,
);
const [config = ""] = blocks;
const test = blockWith("an order is priced once");

function blockWith(text: string): string {
  const found = blocks.find((block) => block.includes(text));
  if (found === undefined) throw new Error(`docs/handlers.md has no block with ${JSON.stringify(text)}`);
  return found;
}

/** The blocks in a folder below the project, as they would lie in a user's own. */
async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(process.cwd(), "test", "handlers-example-"));
  writeFileSync(join(folder, "oncehook.config.ts"), config);
  writeFileSync(join(folder, "orders.test.ts"), test);
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

it("the example of docs/handlers.md passes its own test", () =>
  inFolder(async (folder) => {
    const { code, output } = await runNode(["--test", "--test-reporter=tap", "orders.test.ts"], folder);
    expect(output).toContain("ok 1 - an order is priced once");
    expect(code).toBe(0);
  }));
