import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { platformRows, platformTables } from "../../scripts/platform-rows.ts";
import { registryFiles } from "../../scripts/registry.ts";

const page = readFileSync("docs/platforms.md", "utf8");

/** The names of the presets in the files of a folder, without those of senders of one's own. */
function namesIn(pattern: string): string[] {
  const texts = globSync(pattern).map((path) => readFileSync(path, "utf8"));
  const platforms = texts.filter((text) => !text.includes('proof: "own"'));
  return platforms.flatMap((text) =>
    [...text.matchAll(/(?:\bpreset: |(?:Preset(?:<\w+>)?|Senders)\()"([a-z0-9-]+)"/g)].map(([, name]) => `${name}`),
  );
}

/** Tests that take every preset without naming it. */
const OF_ALL_PRESETS = /\/(?:every-preset|event-times|platform-retries|options|keys)\.test\.ts$/;

const described = platformRows().map(({ description }) => description);

it("the registry of presets and the list of proofs are those that npm run tables writes", async () => {
  for (const [path, text] of await registryFiles()) expect(readFileSync(path, "utf8"), path).toBe(text);
});

describe("docs/platforms.md", () => {
  it("docs/platforms.md has the tables that npm run tables writes", () => {
    expect(page.slice(page.indexOf("\n## Proven\n") + 1)).toBe(platformTables());
  });

  it("every preset is described, so that it has a row", () => {
    const names = new Set(namesIn("src/sources/platforms/**/*.ts"));
    expect(described.map(({ preset }) => preset)).toEqual([...names].toSorted());
    expect(names.size).toBeGreaterThan(60);
  });

  it("every preset that is called proven has a proof, and every proof is of a preset", () => {
    const proofs = new Set(namesIn("interop/proofs/*.ts"));
    const proven = described.filter(({ facts }) => facts.proof !== undefined && facts.proof !== "own");
    expect(proven.map(({ preset }) => preset).filter((preset) => !proofs.has(preset))).toEqual([]);
    expect([...proofs].filter((proof) => !described.some(({ preset }) => preset === proof))).toEqual([]);
  });

  it("every preset without a proof has a test that signs as its documentation says", () => {
    const tests = globSync("test/sources/{platforms,presets}/*.test.ts").filter((path) => !OF_ALL_PRESETS.test(path));
    const text = tests.map((path) => readFileSync(path, "utf8")).join("\n");
    const unproven = described.filter(({ facts }) => facts.proof === undefined).map(({ preset }) => preset);
    const camelCase = (name: string) => name.replace(/-(.)/g, (_dash, letter: string) => letter.toUpperCase());
    expect(unproven.filter((name) => !new RegExp(`"${name}"|\\b${camelCase(name)}\\b`).test(text))).toEqual([]);
    expect(unproven.length).toBeGreaterThan(20);
  });

  it("every proof is in the list that the suite and the demo run", () => {
    const list = readFileSync("interop/proofs/index.ts", "utf8");
    const exported = globSync("interop/proofs/*.ts").flatMap((path) => [
      ...readFileSync(path, "utf8").matchAll(/^export const (\w+): (?:PlatformProof|readonly PlatformProof\[\]) =/gm),
    ]);
    const names = exported.map(([, name]) => `${name}`).filter((name) => name !== "PROOFS");
    const [, listed = ""] = list.split("PROOFS");
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(listed))).toEqual([]);
    expect(names.length).toBeGreaterThan(20);
  });
});
