import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { describeAdminApi } from "../../scripts/describe-admin-api.ts";
import { describeVariables } from "../../scripts/variable-rows.ts";
import { FAULTS, REMEDIES } from "../../src/domain/index.ts";
import type { SourceSettings } from "../../src/sources/source-definition.ts";
import { INVARIANTS } from "../../src/store/inspection.ts";

/** The compiler keeps it complete. */
const SETTINGS: Readonly<Record<keyof SourceSettings, true>> = {
  path: true,
  url: true,
  answer: true,
  retry: true,
  only: true,
  ignore: true,
  filter: true,
  unhandled: true,
  invalid: true,
  identity: true,
  maxBodyBytes: true,
  rate: true,
  addresses: true,
  keep: true,
};

const readme = readFileSync("README.md", "utf8");
const [errors = "", refused = ""] = readFileSync("docs/errors.md", "utf8").split("\n## Why was my callback refused?\n");
const cell = (text: string) => text.replaceAll("|", "\\|");

/** The list below the heading: each claim with the tests that stand below it. */
function claimsBelow(heading: string, page: string): { claim: string; tests: string[] }[] {
  const [, section = ""] = page.split(`${heading}\n`);
  const [list = ""] = section.split("\n\n").filter((part) => part.startsWith("- **"));
  return list
    .split(/^- /m)
    .slice(1)
    .map((entry) => {
      const [claim = "", ...tests] = entry.split("\n  - ").map((text) => text.replaceAll(/\s+/g, " ").trim());
      return { claim, tests };
    });
}

const TEST_FILES = globSync(["test/**/*.test.ts", "interop/*.test.ts", "frameworks/*/*.test.ts"]);

/** Of "`file`: one title; another", the titles that are in no file of that name. */
function missingTests(tests: string): string[] {
  const [, file, titles = ""] = /^`([\w/-]+)`: (.+)$/.exec(tests) ?? [];
  if (file === undefined) return [tests];
  const ends = [`/${file}.test.ts`, `/${file}.full.test.ts`];
  const paths = TEST_FILES.filter((path) => ends.some((end) => `/${path}`.endsWith(end)));
  const source = paths.map((path) => readFileSync(path, "utf8")).join("\n");
  return titles
    .split("; ")
    .filter((title) => !source.includes(title))
    .map((title) => `${file}: ${title}`);
}

describe("the documentation", () => {
  it("docs/configuration.md describes every variable as the configuration reads it, and no other", () => {
    const rows = describeVariables().map((row) => `| \`${row.name}\` | ${cell(row.default)} | ${cell(row.expects)}`);
    const lines = readFileSync("docs/configuration.md", "utf8").split("\n");
    const described = lines.filter((line) => /^\| `[A-Z_]+` \|/.test(line));
    expect(described.map((line) => line.split(" | ", 3).join(" | "))).toEqual(rows);
    expect(described.filter((line) => (line.split(" | ")[3] ?? "").length < 10)).toEqual([]);
    expect(lines.flatMap((line) => (line.startsWith("## ") ? [line.slice(3)] : []))).toEqual([
      ...new Set(describeVariables().map(({ section }) => section)),
    ]);
    expect(rows.length).toBeGreaterThan(80);
  });

  it("docs/errors.md says of each code of a rejected event that it is kept, and of no other", () => {
    const kept = [...errors.matchAll(/^\| `(\w+)` \|.*(?:[Kk]ept as `rejected`)/gm)].map(([, code]) => code);
    const isOfTheBody = ([code, { status }]: [string, { status: number }]) =>
      code.startsWith("body_") && status === 400;
    const OF_THE_BODY = Object.entries(FAULTS)
      .filter(isOfTheBody)
      .map(([code]) => code);
    const OF_THE_EVENT = [
      "event_id_invalid",
      "event_type_missing",
      "event_type_mismatch",
      "event_invalid",
      "event_too_old",
    ];
    expect(kept).toEqual([...OF_THE_BODY, ...OF_THE_EVENT, "rejected"]);
  });

  it("docs/errors.md describes every fault as the catalogue has it, and no other", () => {
    const rows = Object.entries(FAULTS).map(
      ([code, { status, message }]) => `| \`${code}\` | ${status} | ${message} |`,
    );
    const described = errors.split("\n").filter((line) => /^\| `[a-z_0-9]+` \|/.test(line));
    expect(described.map((line) => line.split(" | ", 3).join(" | "))).toEqual(rows.map((line) => line.slice(0, -2)));
    expect(described.filter((line) => (line.split(" | ")[3] ?? "").length < 20)).toEqual([]);
  });

  it("docs/admin-api.md describes every action of the audit log, and no other", () => {
    const sources = globSync("src/{admin,app}/**/*.ts").map((path) => readFileSync(path, "utf8"));
    const literal = /\b(?:a|dryRunA)ction: "([a-z_]+\.[a-z_]+)"/g;
    const actions = sources.flatMap((text) => [...text.matchAll(literal)].map(([, action]) => String(action)));
    // No operation puts an action together, which this test would not find.
    expect(sources.filter((text) => /\b(?:a|dryRunA)ction: `/.test(text))).toEqual([]);
    const [, table = ""] = readFileSync("docs/admin-api.md", "utf8").split("### The audit log\n");
    const rows = table.split("\n").filter((line) => /^\| `[a-z_]+\.[a-z_]+`/.test(line));
    const described = rows.flatMap((row) =>
      [...(row.split(" | ")[0] ?? "").matchAll(/`([a-z_.]+)`/g)].map(([, action]) => String(action)),
    );
    expect(described.toSorted()).toEqual([...new Set(actions)].toSorted());
    expect(described.length).toBeGreaterThan(15);
  });

  it("docs/errors.md says what each diagnosis means and what to do, and lists no other", () => {
    const rows = refused
      .split("\n")
      .filter((line) => /^\| `[a-z_0-9]+` \|/.test(line))
      .map((line) => line.slice(2, -2).split(" | "));
    const remedies = Object.entries(REMEDIES).map(([code, remedy]) => [`\`${code}\``, cell(remedy)]);
    expect(rows.map(([code, , remedy]) => [code, remedy])).toEqual(remedies);
    expect(rows.filter(([, cause = ""]) => cause.length < 20)).toEqual([]);
  });

  it.each([
    ["docs/oauth.md", "## Security checklist", 20],
    ["docs/platforms.md", "## Tests", 5],
    ["docs/reliability.md", "### Tests by promise", 5],
    ["docs/threats.md", "# Threats", 100],
  ])("each claim of %s below %s names tests, and only tests that exist", (file, heading, atLeast) => {
    const claims = claimsBelow(heading, readFileSync(file, "utf8"));
    expect(claims.length).toBeGreaterThanOrEqual(atLeast);
    expect(claims.filter(({ tests }) => tests.length === 0)).toEqual([]);
    expect(claims.flatMap(({ tests }) => tests.flatMap(missingTests))).toEqual([]);
  });

  it("docs/reliability.md says what to do about each invariant, and lists no other", () => {
    const rows = readFileSync("docs/reliability.md", "utf8").matchAll(/^\| `([a-z-]+)` \|/gm);
    const names = ["file-intact", "foreign-keys", ...INVARIANTS.map(({ name }) => name)];
    expect([...rows].map(([, name]) => name)).toEqual(names);
  });

  it("docs/openapi.json is what the admin API describes, as written by npm run tables", async () => {
    const described = JSON.parse(JSON.stringify(await describeAdminApi()));
    expect(JSON.parse(readFileSync("docs/openapi.json", "utf8"))).toEqual(described);
  });

  it("the README has at most 120 lines, of at most 120 columns", () => {
    const lines = readme.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(120);
    expect(lines.filter(({ length }) => length > 120)).toEqual([]);
  });

  it("docs/sources.md has a row for each setting of a source", () => {
    const [, section = ""] = readFileSync("docs/sources.md", "utf8").split("## Settings of a source\n");
    const [table = ""] = section.split("\n\n").filter((part) => part.startsWith("| setting |"));
    const rows = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(rows.toSorted()).toEqual([...Object.keys(SETTINGS), "reconcile"].toSorted());
  });

  it.each(globSync(["*.md", "docs/**/*.md"]))("each link of %s to a section leads to one", (file) => {
    const links = [...readFileSync(file, "utf8").matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)];
    const dead = links.filter(([, path = "", section = ""]) => {
      const target = path === "" ? file : join(dirname(file), path);
      return target.endsWith(".md") && !sectionsOf(target).has(section);
    });
    expect(dead.map(([link]) => link)).toEqual([]);
  });

  it.each(globSync(["*.md", "docs/**/*.md"]))("the page %s has no dead link", (file) => {
    const links = [...readFileSync(file, "utf8").matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => String(link));
    expect(links.filter((link) => !existsSync(join(dirname(file), link)))).toEqual([]);
  });

  it("The index of docs/decisions names the page of each decision, and that page names the decision", () => {
    const rows = readFileSync("docs/decisions/README.md", "utf8").matchAll(/^\| (\d{4}) \| (.*) \|$/gm);
    const pages = new Map(Array.from(rows, ([, number = "", cells = ""]) => [number, cells]));
    const numbers = [...pages.keys()];
    expect(numbers).toEqual([...new Set(numbers)].toSorted());
    expect(numbers.length).toBeGreaterThanOrEqual(89);
    const lost = [...pages].filter(([number, cells]) => {
      const paths = [...cells.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, path]) => `docs/decisions/${path}`);
      return !cells.endsWith("| never used") && !paths.some((path) => readFileSync(path, "utf8").includes(number));
    });
    expect(lost).toEqual([]);
    const sources = globSync("src/**/*.ts").map((path) => readFileSync(path, "utf8"));
    const cited = sources.flatMap((text) =>
      [...text.matchAll(/decisions? (\d{4})/g)].map(([, number]) => String(number)),
    );
    expect(cited.filter((number) => !(pages.get(number) ?? "").includes("]("))).toEqual([]);
    const listed = new Set(globSync("docs/decisions/*.md").map((path) => basename(path)));
    for (const [, path] of readFileSync("docs/decisions/README.md", "utf8").matchAll(/\]\(([\w-]+\.md)\)/g))
      listed.delete(String(path));
    expect([...listed]).toEqual(["README.md"]);
  });

  it("docs/architecture.md names every folder of the source", () => {
    const architecture = readFileSync("docs/architecture.md", "utf8");
    const folders = globSync("src/*/").map((path) => path.replace(/^src\//, "").replace(/\/$/, ""));
    expect(folders.filter((folder) => !architecture.includes(`| \`${folder}/\` |`))).toEqual([]);
  });

  it("the documentation speaks only of scripts that exist", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
      scripts: Record<string, string>;
    };
    const texts = [readme, readFileSync("CONTRIBUTING.md", "utf8"), readFileSync(".ci/run", "utf8")].join("\n");
    const named = [...texts.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, name]) => String(name));
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
    expect(named.length).toBeGreaterThan(5);
  });
});

/** The anchors that GitHub makes of a page's headings. */
function sectionsOf(file: string): ReadonlySet<string> {
  const headings = readFileSync(file, "utf8").matchAll(/^#+ (.+)$/gm);
  return new Set(
    Array.from(headings, ([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}
