import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromCanonicalBase64url } from "../../src/domain/index.ts";

describe("strict base64url", () => {
  it("the decoder reads one text for each sequence of bytes, and no other text that a lenient decoder takes", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string({ maxLength: 3 }), fc.nat(), (bytes, added, at) => {
        const text = Buffer.from(bytes).toString("base64url");
        expect(fromCanonicalBase64url(text)).toEqual(Buffer.from(bytes));
        const place = at % (text.length + 1);
        const other = text.slice(0, place) + added + text.slice(place);
        const read = fromCanonicalBase64url(other);
        expect(read?.toString("base64url") ?? other).toBe(other);
      }),
    );
    for (const text of ["AB", "AA==", "AA ", "A", "+/+/", "AA\n", "é"])
      expect([text, fromCanonicalBase64url(text)]).toEqual([text, undefined]);
  });

  it("the service decodes base64url only with the strict decoder", () => {
    const lenient = /Buffer\.from\([^()]*,\s*"base64url"\)/;
    const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    const found = files.filter((file) => lenient.test(readFileSync(join("src", file), "utf8")));
    expect(found).toEqual([join("domain", "canonical-base64url.ts")]);
  });
});
