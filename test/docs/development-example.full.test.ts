import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { temporaryDatabase } from "../../src/app/open-store.ts";
import { testEnvironment } from "../../src/testing/start-test-receiver.ts";
import { withFiles } from "../support/doc-blocks.ts";
import { runNode } from "../support/in-project.ts";

const blocks = [...readFileSync("docs/development.md", "utf8").matchAll(/```ts\n([\s\S]*?)```/g)].map(
  ([, block = ""]) => block,
);
const [example = ""] = blocks;
const program = blocks.find((block) => block.includes("loadConfig(")) ?? "";

it("the example test of docs/development.md passes under Node's own test runner", () =>
  withFiles([["parcels.test.ts", example]], async (folder) => {
    const { code, output } = await runNode(["--test", "--test-reporter=tap", "parcels.test.ts"], folder);
    expect(output).toContain("ok 1 - a parcel is taken once the warehouse is back");
    expect(code).toBe(0);
  }));

it("the program of docs/development.md starts a receiver and sends it a signed callback", async () => {
  const { url, remove } = await temporaryDatabase();
  const folder = mkdtempSync(join(process.cwd(), "test", "development-program-"));
  const printed = vi.spyOn(console, "log").mockImplementation(() => {});
  try {
    const variables = { ...testEnvironment(), DATABASE_URL: url, LOG_LEVEL: "silent" };
    const text = program
      .replaceAll("process.env", `(${JSON.stringify(variables)} as Record<string, string>)`)
      .replace('"oncehook"', '"../../src/index.ts"');
    writeFileSync(join(folder, "program.ts"), text);
    await import(join(folder, "program.ts"));
    expect(printed.mock.calls).toEqual([[200, { status: "success", data: { order_id: "o1" } }]]);
  } finally {
    printed.mockRestore();
    rmSync(folder, { recursive: true, force: true });
    await remove();
  }
});
