import { describe, expect, it } from "vitest";
import { FingerprintSum, type SourceRow, toPostgresText } from "../../src/store/index.ts";

const column = (kind: string) => ({ name: "value", kind, type: kind, isGenerated: false });

/** The fingerprint of a table with one column. */
function fingerprint(kind: string, ...texts: (string | null)[]) {
  const sum = new FingerprintSum();
  for (const text of texts) sum.add([text], [column(kind)]);
  return sum.result();
}

describe("the comparison at the end of a copy", () => {
  it.each([
    ["float8", "0.1", "1e-1"],
    ["float8", "1e300", "1.0e+300"],
    ["float4", "0.1", "0.10000000149011612"],
    ["numeric", "1.50", "1.5"],
    ["numeric", "1e3", "1000.00"],
    ["numeric", "-0", "0"],
    ["numeric", "-12.30e-1", "-1.23"],
    ["numeric", "007.0", "7"],
    ["numeric", ".5", "0.5"],
    ["bool", "1", "t"],
    ["bool", "0", "false"],
    ["timestamptz", "2026-01-02T03:04:05.600Z", "2026-01-02 03:04:05.6+00"],
    ["timestamptz", "2026-01-02T05:04:05+02:00", "2026-01-02 03:04:05+00"],
    ["timestamptz", "2026-01-02T05:04+0200", "2026-01-02 03:04:00+00"],
    ["timestamptz", "2026-01-02T03:04:05", "2026-01-02 03:04:05+00"],
    ["timestamp", "2026-01-02", "2026-01-02 00:00:00"],
    ["jsonb", '{"b": 1, "a": {"d": 2, "c": [1, 2]}}', '{"a":{"c":[1,2],"d":2},"b":1}'],
    ["uuid", "0AF0", "0af0"],
    ["bpchar", "x", "x  "],
  ])("takes two spellings of a %s for one value: %s and %s", (kind, one, other) => {
    expect(fingerprint(kind, one)).toEqual(fingerprint(kind, other));
  });

  it.each([
    ["numeric", "1.5", "15"],
    ["numeric", "1.5", "-1.5"],
    ["numeric", "9007199254740993", "9007199254740992"],
    ["bool", "1", "0"],
    ["timestamptz", "2026-01-02T03:04:05.678901Z", "2026-01-02T03:04:05.678902Z"],
    ["timestamptz", "2026-01-02T03:04:05+02:00", "2026-01-02T03:04:05Z"],
    ["timestamptz", "yesterday", "tomorrow"],
    ["jsonb", "[1,2]", "[2,1]"],
    ["jsonb", "[1]", '{"0":1}'],
    ["json", "not JSON", "neither"],
    ["text", "x", "X"],
    ["text", "1.0", "1"],
    ["text", "", null],
    ["float8", "0.1", "0.1000000000000001"],
  ])("a copy's comparison distinguishes two values of a %s: %s and %s", (kind, one, other) => {
    expect(fingerprint(kind, one).digest).not.toEqual(fingerprint(kind, other).digest);
  });

  it("a copy's comparison ignores the order of rows, and counts each repeated row", () => {
    expect(fingerprint("text", "a", "b", "c")).toEqual(fingerprint("text", "c", "a", "b"));
    expect(fingerprint("text", "a", "a").digest).not.toEqual(fingerprint("text", "b", "b").digest);
    expect(fingerprint("text", "a", "a").digest).not.toEqual(fingerprint("text").digest);
    expect(fingerprint("text", "a", "b").rows).toBe(2);
  });

  it("a copy's comparison notices which column a value is in", () => {
    const columns = [column("text"), column("text")];
    const [one, other] = [new FingerprintSum(), new FingerprintSum()];
    one.add(["a", "b"], columns);
    other.add(["b", "a"], columns);
    expect(one.result().digest).not.toEqual(other.result().digest);
  });
});

describe("a value that is copied", () => {
  it.each<[string, SourceRow["values"][number], string | null]>([
    ["text", null, null],
    ["bytea", null, null],
    ["bytea", new Uint8Array([0, 255]), "\\x00ff"],
    ["bytea", "é", "\\xc3a9"],
    ["int8", 9007199254740993n, "9007199254740993"],
    ["float8", 0.1, "0.1"],
    ["text", "\\x00", "\\x00"],
  ])(
    "a value of a column of type %s is copied as the text that PostgreSQL reads as %s",
    (kind, value, text) => {
      expect(toPostgresText(value, column(kind))).toBe(text);
    },
  );

  it("a value that PostgreSQL cannot hold is refused with the name of its column", () => {
    expect(() => toPostgresText("a\u0000b", column("text"))).toThrow('column "value" holds a NUL character');
    expect(() => toPostgresText(new Uint8Array(1), column("text"))).toThrow(
      'column "value" holds bytes in SQLite, and its type in PostgreSQL is text',
    );
  });
});
