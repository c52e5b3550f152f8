import { describe, expect, it } from "vitest";
import { copyJson } from "../../src/domain/index.ts";

describe("a copy of a JSON object", () => {
  it("a copy equals the object and shares nothing with it, however deep it is", () => {
    const object = {
      id: "1",
      price: 1.5,
      isPaid: true,
      note: null,
      lines: [{ sku: "a", tags: ["x", ["y"]] }],
    };
    const before = structuredClone(object);
    const copy = copyJson(object) as typeof object;
    expect(copy).toEqual(object);
    copy.lines[0]!.tags.push("added");
    copy.lines.push({ sku: "b", tags: [] });
    expect(object).toEqual(before);
  });
});
