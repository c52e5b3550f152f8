import { globSync, readFileSync } from "node:fs";
import { checkSync } from "recheck";
import ts from "typescript";
import { describe, expect, it } from "vitest";

interface Found {
  readonly where: string;
  readonly source: string;
  readonly flags: string;
}

/** What these read comes from whoever starts the process, and from nobody else. */
const FOR_OPERATORS = /^src\/(config|cli)\//;

/** Every regular expression that is written out where something is read that a stranger may have sent. */
function found(): Found[] {
  const files = globSync("src/**/*.{ts,js}").filter((file) => !FOR_OPERATORS.test(file));
  return files.flatMap((file) => {
    const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
    const all: Found[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const [, pattern = "", flags = ""] = /^\/(.*)\/(\w*)$/s.exec(node.text) ?? [];
        const { line } = source.getLineAndCharacterOfPosition(node.getStart());
        all.push({ where: `${file}:${line + 1}`, source: pattern, flags });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return all;
  });
}

describe("a regular expression", () => {
  const all = found();

  it("the search finds the regular expressions of the source", () => {
    expect(all.length).toBeGreaterThan(40);
  });

  it.each(all.map((one) => [`${one.where} /${one.source.slice(0, 60)}/`, one] as const))(
    "a regular expression is linear in its input: %s",
    (_title, { source, flags }) => {
      expect(checkSync(source, flags, { timeout: 20_000 }).status).toBe("safe");
    },
  );
});
