import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { scalingFigures } from "../../scripts/scaling-figures.ts";

const performance = readFileSync("docs/performance.md", "utf8");

describe("docs/scaling.md", () => {
  it("The page has the figures of docs/performance.md (npm run tables)", () => {
    expect(readFileSync("docs/scaling.md", "utf8")).toContain(scalingFigures(performance));
  });

  it("A table that docs/performance.md lacks is named", () => {
    const withoutGrowth = performance.replaceAll("(`growth`)", "(`other`)");
    expect(() => scalingFigures(withoutGrowth)).toThrow("docs/performance.md has no table of growth");
  });

  it("What to expect in docs/performance.md has no number that its figures lack", () => {
    const [, rest = ""] = performance.split("## What to expect\n");
    const [expected = "", figures = ""] = rest.split("<!-- figures: written by npm run bench");
    const table = expected.split("\n\n").find((part) => part.startsWith("| |")) ?? "";
    const numbers = table.match(/\d[\d,]*\d/g) ?? [];
    expect(numbers.length).toBeGreaterThan(10);
    const cells = new Set(figures.match(/\d[\d,.]*/g)?.flatMap((text) => [text, text.replace(/\.\d$/, "")]));
    expect(numbers.filter((number) => !cells.has(number))).toEqual([]);
  });

  it("No case has two tables in docs/performance.md", () => {
    const titles = performance.match(/^### .* \(`[a-z-]+`\)$/gm) ?? [];
    expect(titles.length).toBeGreaterThan(5);
    expect(new Set(titles).size).toBe(titles.length);
  });
});
