import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { COMPILER_LIMIT_MS, compile, runNode } from "../support/in-project.ts";

const [example = ""] = [...readFileSync("docs/development.md", "utf8").matchAll(/```ts\n([\s\S]*?)```/g)].map(
  ([, block = ""]) => block,
);

it(
  "has in docs/development.md a test that passes, and that the compiler accepts",
  async () => {
    const folder = mkdtempSync(join(process.cwd(), "test", "development-example-"));
    try {
      writeFileSync(join(folder, "parcels.test.ts"), example);
      const { code, output } = await runNode(["--test", "--test-reporter=tap", "parcels.test.ts"], folder);
      expect(output).toContain("ok 1 - a parcel is taken once the warehouse is back");
      expect(code).toBe(0);
      expect(await compile(folder)).toEqual({ code: 0, output: "" });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  COMPILER_LIMIT_MS,
);
