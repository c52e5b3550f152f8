import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly "timeout-minutes"?: number;
  readonly steps: readonly Step[];
  readonly needs?: string | readonly string[];
  readonly permissions?: Record<string, string>;
  readonly strategy?: { readonly matrix: Record<string, readonly number[]> };
}

interface Workflow {
  readonly on: Record<string, unknown>;
  readonly permissions: Record<string, string>;
  readonly jobs: Record<string, Job>;
}

const read = <T>(path: string) => parse(readFileSync(path, "utf8")) as T;
const PATHS = globSync(".github/workflows/*.yml");
const CI = read<Workflow>(".github/workflows/ci.yml");
const RELEASE = read<Workflow>(".github/workflows/release.yml");
const { scripts, engines } = JSON.parse(readFileSync("package.json", "utf8")) as {
  scripts: Record<string, string>;
  engines: { node: string };
};
const stepsOf = (path: string) => Object.values(read<Workflow>(path).jobs).flatMap(({ steps }) => steps);
const commands = (steps: readonly Step[]) => steps.flatMap(({ run }) => run?.split("\n") ?? []);

describe("the workflows of .github/", () => {
  it.each(PATHS)("the workflow %s calls only npm scripts that the package has", (path) => {
    const called = commands(stepsOf(path)).flatMap((line) => {
      const name = /^npm (?:run (?:-s )?([\w:-]+)|(test|start))/.exec(line);
      return name === null ? [] : [name[1] ?? name[2] ?? ""];
    });
    expect(called.length).toBeGreaterThan(0);
    expect(called.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it.each(PATHS)("the workflow %s runs only files of the repository", (path) => {
    const files = commands(stepsOf(path)).flatMap((line) => line.match(/\b(?:scripts|test|deploy)\/[\w./-]+/g) ?? []);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });

  it.each(PATHS)("the workflow %s pins every action to a commit, and says its version", (path) => {
    const lines = readFileSync(path, "utf8").match(/^.*\buses: .*$/gm) ?? [];
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => !/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  it.each(PATHS)("the workflow %s can only read unless a job says more, and each job ends in time", (path) => {
    const { permissions, jobs } = read<Workflow>(path);
    expect(permissions).toEqual({ contents: "read" });
    expect(Object.entries(jobs).filter(([, job]) => job["timeout-minutes"] === undefined)).toEqual([]);
  });

  it("CI runs every command of CONTRIBUTING.md's table", () => {
    const table = readFileSync("CONTRIBUTING.md", "utf8").match(/^\| `npm run ([\w:-]+)` \|/gm) ?? [];
    const names = table.map((row) => /`npm run ([\w:-]+)`/.exec(row)?.[1] ?? "");
    expect(names.length).toBeGreaterThan(4);
    const ran = new Set(commands(stepsOf(".github/workflows/ci.yml")).map((line) => line.replace(/^npm run /, "")));
    // Coverage is of the same tests.
    expect(names.filter((name) => !ran.has(name) && !(name === "test:coverage" && ran.has("test:full")))).toEqual([]);
  });

  it("CI tests every major version of PostgreSQL from the oldest that the README promises", () => {
    const versions = CI.jobs.postgres?.strategy?.matrix.postgres ?? [];
    const oldest = Number(/PostgreSQL (\d+) or newer/.exec(readFileSync("README.md", "utf8"))?.[1]);
    expect(versions[0]).toBe(oldest);
    expect(versions).toEqual(versions.map((_version, index) => oldest + index));
    expect(versions.at(-1)).toBeGreaterThanOrEqual(18);
  });

  it("CI imports the packed archive on the oldest Node that the package takes", () => {
    const versions = CI.jobs.package?.strategy?.matrix.node ?? [];
    expect(versions).toContain(24);
    expect(Math.min(...versions)).toBeLessThanOrEqual(Number(/\d+/.exec(engines.node)?.[0]));
  });

  it("a release is made from a tag only, after all tests, with the provenance of package and image", () => {
    expect(RELEASE.on).toEqual({ push: { tags: ["v[0-9]+.[0-9]+.[0-9]+"] } });
    const { verify, npm, image, notes } = RELEASE.jobs;
    expect(commands(verify?.steps ?? [])).toContain("npm run test:full");
    expect([npm?.needs, image?.needs, notes?.needs]).toEqual(["verify", "verify", ["npm", "image"]]);
    expect(commands(npm?.steps ?? [])).toContain("npm publish --provenance --access public");
    expect(npm?.permissions).toMatchObject({ "id-token": "write" });
    expect(image?.permissions).toMatchObject({ "id-token": "write", attestations: "write", packages: "write" });
  });
});

it("Dependabot watches each folder with a package.json, the image and the actions", () => {
  const { updates } = read<{
    updates: { "package-ecosystem": string; directory?: string; directories?: string[] }[];
  }>(".github/dependabot.yml");
  const watched = updates.flatMap((update) =>
    (update.directories ?? [update.directory ?? ""]).map((folder) => `${update["package-ecosystem"]} ${folder}`),
  );
  const packages = globSync("{.,*}/package.json").map((path) => join("/", dirname(path)));
  expect(watched).toEqual(expect.arrayContaining(["docker /deploy", "github-actions /"]));
  expect(packages.filter((path) => !watched.includes(`npm ${path}`))).toEqual([]);
});

describe("the issue forms", () => {
  const FIELDS = ["checkboxes", "dropdown", "input", "markdown", "textarea", "upload"];
  it.each(globSync(".github/ISSUE_TEMPLATE/{bug,platform}.yml"))("GitHub can show the form %s", (path) => {
    const form = read<{ name: string; description: string; body: { type: string; id?: string; attributes: object }[] }>(
      path,
    );
    expect([form.name, form.description].every((text) => text.length > 2)).toBe(true);
    const fields = form.body.filter(({ type }) => type !== "markdown");
    expect(form.body.filter(({ type }) => !FIELDS.includes(type))).toEqual([]);
    expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
    expect(fields.filter(({ attributes }) => !("label" in attributes))).toEqual([]);
  });

  it("the form of a bug asks for the version, the store, the outcome and a redacted log line", () => {
    const { body } = read<{ body: { id?: string }[] }>(".github/ISSUE_TEMPLATE/bug.yml");
    expect(body.map(({ id }) => id)).toEqual(expect.arrayContaining(["version", "store", "outcome", "log"]));
  });

  it("the form of a bug offers each version of PostgreSQL that CI tests", () => {
    const text = readFileSync(".github/ISSUE_TEMPLATE/bug.yml", "utf8");
    const versions = CI.jobs.postgres?.strategy?.matrix.postgres ?? [];
    expect(versions.filter((version) => !text.includes(`PostgreSQL ${version}`))).toEqual([]);
  });
});
