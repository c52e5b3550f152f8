import { describe, expect, it } from "vitest";
import type { Diagnosis } from "../../src/domain/index.ts";
import { claimsIn } from "../../src/sources/diagnose/claimed-digest.ts";
import { diagnoseSignature } from "../../src/sources/diagnose/diagnose-signature.ts";
import type { JsonNode } from "../../src/sources/diagnose/json-text.ts";
import { otherContents } from "../../src/sources/diagnose/other-contents.ts";
import { decodings } from "../../src/sources/diagnose/secret-variants.ts";
import { sorted } from "../../src/sources/diagnose/serializations.ts";
import { WorkBudget } from "../../src/sources/diagnose/work-budget.ts";
import { BODY, CURRENT, mac, URL_CALLED } from "./refused-cases.ts";

function ended<Result>(steps: Generator<undefined, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

function diagnosed(body: string, signature: string): Diagnosis {
  const headers = { "x-signature": [signature] };
  const suspect = { headers, body: Buffer.from(body), method: "POST", url: URL_CALLED };
  return ended(diagnoseSignature(suspect, { accepted: [CURRENT], named: [] }));
}

const digest = mac(BODY);

describe("a diagnosis", () => {
  it("looks for digests in a header of 2048 characters at most", () => {
    const value = (length: number) => `${digest},`.padEnd(length, "x");
    expect([claimsIn(value(2_048)).length, claimsIn(value(2_049)).length]).toEqual([1, 0]);
  });

  it("says nothing of several values where the header holds one", () => {
    expect(diagnosed(BODY, "0".repeat(64)).message).toBe(
      "The signature fits none of the known secrets, with none of the changes that were tried.",
    );
  });

  it("tries two timestamps of a request, and none of more than 64 characters", () => {
    const stamped = (headers: Record<string, string>) => {
      const distinct = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
      const suspect = { headers: distinct, body: Buffer.from(BODY), method: "POST", url: URL_CALLED };
      const contents = otherContents(suspect, []);
      return contents.filter(({ what }) => what.endsWith("as Stripe signs")).map(({ parts }) => parts[0]);
    };
    const three = { "x-timestamp": "1", "svix-timestamp": "2", "x-request-timestamp": "3" };
    expect(stamped(three)).toEqual(["1", "2"]);
    expect(stamped({ "x-timestamp": "1".repeat(65), "svix-timestamp": "2".repeat(64) })).toEqual([
      "2".repeat(64),
    ]);
  });

  it("tries eight objects of a body, each signed alone", () => {
    const parts = Array.from({ length: 9 }, (_, at) => `{"number":${at}}`);
    const body = `{${parts.map((part, at) => `"k${at}":${part}`).join(",")}}`;
    expect(diagnosed(body, mac(parts[7] ?? "")).code).toBe("other_content");
    expect(diagnosed(body, mac(parts[8] ?? "")).code).toBe("unknown");
  });

  it("tries more decimals for the numbers of a body of 8 KiB at most", () => {
    const body = (bytes: number) => `{"amount":10,"text":"${"x".repeat(bytes - 23)}"}`;
    const sent = (bytes: number) => body(bytes).replace(":10,", ":10.00,");
    expect(body(8_192)).toHaveLength(8_192);
    expect(diagnosed(body(8_192), mac(sent(8_192))).code).toBe("reserialised");
    expect(diagnosed(body(8_193), mac(sent(8_193))).code).toBe("unknown");
  });

  it("takes no secret for a writing of fewer than eight bytes", () => {
    expect(decodings("0011223344556677").length).toBeGreaterThan(0);
    expect(decodings("AQIDBAUG")).toEqual([]);
  });

  it("sorts the keys of objects of a thousand members at most, as that takes no pause", () => {
    const inOrder = (count: number) => {
      const members = Array.from(
        { length: count },
        (_, at) => [`"${5_000 - at}"`, { kind: "number", raw: "1" }] as const,
      );
      const node: JsonNode = { kind: "object", members };
      return ended(sorted(node, new WorkBudget())) !== node;
    };
    expect([inOrder(1_000), inOrder(1_001)]).toEqual([true, false]);
  });
});
