import { describe, expect, it } from "vitest";
import { namedBlocks, withFiles } from "../support/doc-blocks.ts";
import { runNode } from "../support/in-project.ts";

const BLOCKS = namedBlocks("docs/start.md");
const FILES = [
  ["oncehook.config.ts", BLOCKS.get("config") ?? ""],
  ["invoices.test.ts", BLOCKS.get("test") ?? ""],
] as const;

describe("the handler of docs/start.md", () => {
  it("the handler passes its test under Node's own test runner", () =>
    withFiles(FILES, async (folder) => {
      const { code, output } = await runNode(["--test", "--test-reporter=tap", "invoices.test.ts"], folder);
      expect(output).toContain("ok 1 - a paid invoice is handled once");
      expect(code).toBe(0);
    }));
});
