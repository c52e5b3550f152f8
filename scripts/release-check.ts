/**
 * Whether a tag can be released: `node scripts/release-check.ts v1.2.3` compares it with the package's version, the lock file
 * and the changelog. It prints the changelog's section, the text of the release; without a tag it takes the version's own.
 */
import { readFileSync } from "node:fs";

export interface Release {
  readonly tag: string;
  readonly version: string;
  readonly lockedVersion: string;
  readonly changelog: string;
}

interface Section {
  readonly title: string;
  readonly text: string;
}

/** The sections of a changelog, newest first. */
function sections(changelog: string): Section[] {
  return changelog
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = "", ...lines] = section.split("\n");
      return { title: title.trim(), text: lines.join("\n").trim() };
    });
}

/** Each reason why the release cannot be made, and what to do; none where it can. */
export function releaseProblems({ tag, version, lockedVersion, changelog }: Release): string[] {
  const problems: string[] = [];
  if (tag !== `v${version}`)
    problems.push(
      `the tag is ${tag}, and package.json has ${version}: expected the tag v${version}; move one of the two`,
    );
  if (lockedVersion !== version)
    problems.push(`package-lock.json has ${lockedVersion}, and package.json ${version}: run npm install`);
  const [first, second] = sections(changelog);
  const unreleased = first?.title === "Unreleased" ? first : undefined;
  const newest = unreleased === undefined ? first : second;
  const expected = `## ${version} (YYYY-MM-DD)`;
  if (unreleased !== undefined && unreleased.text !== "")
    problems.push(`CHANGELOG.md has changes under "Unreleased": move them into a section "${expected}"`);
  if (newest === undefined || !isTitleOf(version, newest.title))
    problems.push(`the newest section of CHANGELOG.md is "${newest?.title}": expected "${expected}"`);
  else if (newest.text === "")
    problems.push(`the section of ${version} in CHANGELOG.md is empty: say what users notice`);
  return problems;
}

/** The changelog's text of a version, without its title. */
export function releaseNotes({ version, changelog }: Pick<Release, "version" | "changelog">): string {
  return sections(changelog).find(({ title }) => isTitleOf(version, title))?.text ?? "";
}

function isTitleOf(version: string, title: string): boolean {
  return title.startsWith(`${version} (`) && /\(\d{4}-\d{2}-\d{2}\)$/.test(title);
}

if (import.meta.main) {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  const { version: lockedVersion } = JSON.parse(readFileSync("package-lock.json", "utf8")) as { version: string };
  const changelog = readFileSync("CHANGELOG.md", "utf8");
  const release = { tag: process.argv[2] ?? `v${version}`, version, lockedVersion, changelog };
  const problems = releaseProblems(release);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length === 0) process.stdout.write(`${releaseNotes(release)}\n`);
  else process.exitCode = 1;
}
