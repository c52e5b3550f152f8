import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { build, type Rollup } from "vite";
import { describe, expect, it } from "vitest";

const ENTRY = fileURLToPath(new URL("../../src/once/index.ts", import.meta.url));
const MAX_BYTES = 10_000;

/** As an edge function bundles it: nothing stays outside. */
async function bundle(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "silent",
    build: { write: false, target: "es2022", lib: { entry: ENTRY, formats: ["iife"], name: "oncehook" } },
  });
  const [output] = [built].flat() as Rollup.RollupOutput[];
  return output?.output[0].code ?? "";
}

describe("oncehook/once in an edge function", () => {
  it("the bundle runs with nothing but the globals of an edge function", async () => {
    const code = await bundle();
    const global = createContext({ crypto, TextEncoder });
    const names = runInContext(`${code}; Object.keys(oncehook)`, global) as string[];
    const libraries = [
      "fromDrizzle",
      "fromKnex",
      "fromKysely",
      "fromPg",
      "fromPostgresJs",
      "fromPrisma",
      "fromTypeOrm",
    ];
    expect(Array.from(names).toSorted()).toEqual(["OnceError", ...libraries, "once"]);
    expect(code).not.toMatch(/\b(?:process|require|Buffer)\b/);
  });

  it("the bundle has at most 10 KB, minified, with the functions of all libraries", async () => {
    expect(Buffer.byteLength(await bundle())).toBeLessThanOrEqual(MAX_BYTES);
  });
});
