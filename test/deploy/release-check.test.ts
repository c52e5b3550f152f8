import { describe, expect, it } from "vitest";
import { releaseNotes, releaseProblems } from "../../scripts/release-check.ts";

const CHANGELOG = `# Changelog

## Unreleased

## 0.4.0 (2026-12-01)

### Added

- A receiver mounts in an application.

## 0.3.0 (2026-11-26)

- Older.
`;
const RELEASE = { tag: "v0.4.0", version: "0.4.0", lockedVersion: "0.4.0", changelog: CHANGELOG };

describe("the check of a release", () => {
  it("a tag whose version, lock file and changelog agree has no problem", () => {
    expect(releaseProblems(RELEASE)).toEqual([]);
  });

  it("the check names a tag of another version", () => {
    expect(releaseProblems({ ...RELEASE, tag: "v0.4.1" })).toEqual([
      "the tag is v0.4.1, and package.json has 0.4.0: expected the tag v0.4.0; move one of the two",
    ]);
  });

  it("the check names a lock file of another version", () => {
    expect(releaseProblems({ ...RELEASE, lockedVersion: "0.3.0" })).toEqual([
      "package-lock.json has 0.3.0, and package.json 0.4.0: run npm install",
    ]);
  });

  it("the check names changes that stand under Unreleased", () => {
    const changelog = CHANGELOG.replace("## Unreleased\n", "## Unreleased\n\n- Newer.\n");
    expect(releaseProblems({ ...RELEASE, changelog })).toEqual([
      'CHANGELOG.md has changes under "Unreleased": move them into a section "## 0.4.0 (YYYY-MM-DD)"',
    ]);
  });

  it("the check names a changelog whose newest section is of another version, or has no date", () => {
    const message = (title: string) =>
      `the newest section of CHANGELOG.md is "${title}": expected "## 0.4.0 (YYYY-MM-DD)"`;
    for (const title of ["0.4.0", "0.4.0-rc.1 (2026-12-01)", "0.5.0 (2026-12-01)"])
      expect(releaseProblems({ ...RELEASE, changelog: CHANGELOG.replace("0.4.0 (2026-12-01)", title) })).toEqual([
        message(title),
      ]);
  });

  it("the check names a section without a text", () => {
    const changelog = CHANGELOG.replace(/### Added[\s\S]+application\.\n/, "");
    expect(releaseProblems({ ...RELEASE, changelog })).toEqual([
      "the section of 0.4.0 in CHANGELOG.md is empty: say what users notice",
    ]);
  });

  it("the notes of a release are the section of its version", () => {
    expect(releaseNotes(RELEASE)).toBe("### Added\n\n- A receiver mounts in an application.");
  });
});
