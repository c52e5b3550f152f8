import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Diagnosis } from "../../src/domain/index.ts";
import { diagnoseSignature } from "../../src/sources/diagnose/diagnose-signature.ts";
import { REFUSED_CASES } from "./all-cases.ts";
import { BODY, CURRENT, PREVIOUS, RETIRED, TEST, URL_CALLED } from "./refused-cases.ts";

const NAMED = [
  { name: "test", secret: TEST },
  { name: "previous-2024", secret: RETIRED },
];

interface Sent {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  readonly accepted?: readonly string[];
}

function diagnosed({ headers = {}, body = BODY, accepted = [CURRENT, PREVIOUS] }: Sent): Diagnosis {
  const distinct = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()]));
  const suspect = { headers: distinct, body: Buffer.from(body), method: "POST", url: URL_CALLED };
  const steps = diagnoseSignature(suspect, { accepted, named: NAMED });
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

describe("a diagnosis", () => {
  it.each([
    [
      "the hash of the body",
      { "x-signature": createHash("sha256").update(BODY).digest("hex") },
      BODY,
      "not_hmac",
    ],
    ["two headers", { "x-signature": ["foo", "bar"] }, BODY, "repeated"],
    ["two digests", { "x-signature": ["0".repeat(64), "1".repeat(64)] }, BODY, "unknown"],
    ["another header", { signature: "foo" }, BODY, "other_header"],
    ["a digest in another header", { "stripe-signature": `t=1,v1=${"0".repeat(64)}` }, BODY, "unknown"],
    [
      "a body that is no UTF-8",
      { "x-signature": "0".repeat(64) },
      Buffer.from([0x7b, 0xff, 0x7d]),
      "converted",
    ],
    ["a body that breaks off", { "x-signature": "0".repeat(64) }, "{", "truncated"],
  ] as const)("confirms nothing of what needs no secret: %s", (_title, headers, body, code) => {
    expect(diagnosed({ headers, body })).toMatchObject({
      code,
      confirmed: false,
    });
  });

  it.each([
    "reserialised",
    "other_content",
    "previous_secret",
    "other_environment",
    "secret_spelling",
    "encoding",
  ])("confirms what a digest with a secret has shown: %s", (code) => {
    const [one] = REFUSED_CASES.filter((one) => one.code === code);
    expect(diagnosed(one ?? {})).toMatchObject({ code, confirmed: true });
  });
});
