import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/domain/index.ts";
import { createMask, shownStatements } from "../../src/observability/index.ts";

const mask = createMask({});

function valuesOf(values: readonly unknown[], payload?: JsonValue) {
  const statements = [{ sql: "INSERT", values, valuesOmitted: 0, rows: 1 }];
  return shownStatements({ statements, payload }, mask)[0]?.values;
}

describe("the values of shown statements", () => {
  it("values of every kind are shown as text, number or null", () => {
    const at = new Date("2026-01-02T03:04:05.678Z");
    const values = [1, 2n, true, null, undefined, "a", at, new Date(Number.NaN), Buffer.of(1, 2), { a: 1 }, [1]];
    const texts = ["2026-01-02T03:04:05.678Z", "<invalid date>", "<2 bytes>", '{"a":1}', "[1]"];
    expect(valuesOf(values)).toEqual([1, "2", true, null, null, "a", ...texts]);
  });

  it("a value that cannot be read as text or JSON is named as such", () => {
    const circular: Record<string, unknown> = Object.create(null);
    circular.self = circular;
    expect(valuesOf([circular, Symbol("s")])).toEqual(["<a value that JSON cannot carry>", "Symbol(s)"]);
  });

  it("what is masked of the payload is masked where it stands alone, in a text, or as a number", () => {
    const payload = { access_token: "a-long-secret", pin: 4711, order: "a-1" };
    const values = valuesOf(["a-long-secret", "as a-long-secret says", 4711, "a-1", 42], payload);
    expect(values).toEqual(["[masked]", "as [masked] says", "[masked]", "a-1", 42]);
  });

  it("a long value is shown by its length only", () => {
    expect(valuesOf(["x".repeat(20_000)])).toEqual(["<20000 characters>"]);
  });

  it("a payload of many secrets and long values is masked within bounds, and shows none of them", () => {
    const names = Array.from({ length: 5_000 }, (_, index) => `secret-number-${index}`);
    const payload = { secrets: names.map((token) => ({ token })) };
    const value = names.slice(0, 700).join(" ");
    const values = valuesOf(
      Array.from({ length: 32 }, () => value),
      payload,
    );
    expect(values).toHaveLength(32);
    expect(JSON.stringify(values)).not.toContain("secret-number-699");
    expect(new Set(values?.slice(1))).toEqual(new Set(["[masked]"]));
  });
});
