import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const [config = "", test = ""] = [
  ...readFileSync("docs/handlers.md", "utf8").matchAll(/```ts\n([\s\S]*?)```/g),
].map(([, block = ""]) => block);

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

function run(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<{ code: unknown; output: string }> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd, env: { PATH: process.env.PATH } }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, output: stdout + stderr }),
    );
  });
}

it("has in docs/handlers.md an example whose own test passes", () =>
  inFolder(async (folder) => {
    const args = ["--conditions=oncehook-source", "--test", "--test-reporter=tap", "orders.test.ts"];
    const { code, output } = await run(process.execPath, args, folder);
    expect(output).toContain("ok 1 - an order is priced once");
    expect(code).toBe(0);
  }));

/** The compiler reads the whole project. */
const COMPILER_LIMIT_MS = 120_000;

it("has in docs/handlers.md examples that the compiler accepts", { timeout: COMPILER_LIMIT_MS }, () =>
  inFolder(async (folder) => {
    const tsconfig = { extends: "../../tsconfig.json", include: ["*.ts"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
    const tsc = join(process.cwd(), "node_modules/typescript/bin/tsc");
    expect(await run(process.execPath, [tsc, "--noEmit", "-p", "."], folder)).toEqual({
      code: 0,
      output: "",
    });
  }),
);
