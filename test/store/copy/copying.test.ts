import { describe, expect, it } from "vitest";
import { type SourceRow, toPostgresText } from "../../../src/store/copy/copy.ts";

const column = (kind: string) => ({ name: "value", kind, type: kind, unlimited: kind, isGenerated: false });

describe("a value that is copied", () => {
  it.each<[string, SourceRow["values"][number], string | null]>([
    ["text", null, null],
    ["bytea", null, null],
    ["bytea", new Uint8Array([0, 255]), "\\x00ff"],
    ["bytea", "é", "\\xc3a9"],
    ["int8", 9007199254740993n, "9007199254740993"],
    ["float8", 0.1, "0.1"],
    ["text", "\\x00", "\\x00"],
  ])("a value of a column of type %s is copied as the text that PostgreSQL reads as %s", (kind, value, text) => {
    expect(toPostgresText(value, column(kind))).toBe(text);
  });

  it("a value that PostgreSQL cannot hold is refused with the name of its column", () => {
    expect(() => toPostgresText("a\u0000b", column("text"))).toThrow('column "value" holds a NUL character');
    expect(() => toPostgresText(new Uint8Array(1), column("text"))).toThrow(
      'column "value" holds bytes in SQLite, and its type in PostgreSQL is text',
    );
  });
});
