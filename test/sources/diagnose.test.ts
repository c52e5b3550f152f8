import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DIAGNOSES, type Diagnosis, type FaultCode, refused } from "../../src/domain/index.ts";
import { createMask } from "../../src/observability/index.ts";
import { offeredSignature } from "../../src/sources/diagnose/offered-signature.ts";
import { createHmacScheme, diagnose, isDiagnosable } from "../../src/sources/index.ts";
import { REFUSED_CASES } from "./all-cases.ts";
import {
  BODY,
  CURRENT,
  mac,
  PREVIOUS,
  RETIRED,
  type RefusedCase,
  TEST,
  URL_CALLED,
} from "./refused-cases.ts";

const NOW = new Date("2026-01-01T00:00:00Z");
const NAMED = [
  { name: "test", secret: TEST },
  { name: "previous-2024", secret: RETIRED },
];
const TOKEN = "the-token-the-platform-sends";

interface Looked {
  readonly diagnosis: Diagnosis | undefined;
  readonly steps: number;
}

/** Runs a diagnosis to its end, of a request that the scheme itself has refused. */
function look({ headers = {}, body = BODY, accepted = [CURRENT, PREVIOUS] }: Partial<RefusedCase>): Looked {
  const distinct = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()]));
  const request = { headers: distinct, body: Buffer.from(body) };
  const scheme = createHmacScheme({ secrets: accepted, toleranceSeconds: null, clock: { now: () => NOW } });
  const refusal = scheme.verify(request);
  if (refusal instanceof Promise || !("code" in refusal) || refusal.kind !== "refused")
    throw new Error("this request is authentic, so that there is nothing to diagnose");
  const expected = {
    secrets: { accepted, named: NAMED },
    toleranceSeconds: null,
    tokens: { tokens: [], header: "x" },
  };
  return run(diagnose(refusal, { ...request, method: "POST", url: URL_CALLED }, expected, NOW));
}

function run(steps: ReturnType<typeof diagnose>): Looked {
  for (let count = 0; ; count += 1) {
    const { done, value } = steps.next();
    if (done === true) return { diagnosis: value, steps: count };
  }
}

describe("the diagnosis of a signature", () => {
  it.each(REFUSED_CASES.map((one) => [one.title, one] as const))("finds out: %s", (_title, one) => {
    const { diagnosis } = look(one);
    expect(diagnosis).toMatchObject({ code: one.code, message: expect.stringContaining(one.message) });
    expect(diagnosis?.remedy).toContain(DIAGNOSES[one.code].remedy);
  });

  it("has a case for each of its codes, other than those of the time and of tokens", () => {
    const told = new Set(REFUSED_CASES.map(({ code }) => code));
    const others = Object.keys(DIAGNOSES).filter((code) => !/^(token_|jwt_|stale$|timestamp$)/.test(code));
    expect([...told].toSorted()).toEqual(others.toSorted());
  });

  it("finds a bare signature that is another platform's in no header it does not know", () => {
    expect(look({ headers: { "x-something-else": mac(BODY) } }).diagnosis).toMatchObject({ code: "missing" });
  });

  it("shows neither a digest nor what the caller sent, whatever it finds", () => {
    for (const one of REFUSED_CASES) {
      const told = JSON.stringify(look(one).diagnosis);
      const sent = Object.values(one.headers ?? {}).flat();
      for (const value of sent) if (value.length > 8) expect(told.includes(value)).toBe(false);
      expect(told).not.toMatch(/[0-9a-f]{32}|[A-Za-z0-9+/_-]{32}/i);
      for (const secret of [CURRENT, PREVIOUS, TEST, RETIRED]) expect(told.includes(secret)).toBe(false);
    }
  });

  it("stays readable in the log, which masks what looks like a secret", () => {
    const { text } = createMask({ secretValues: [CURRENT, PREVIOUS] });
    const named = ["sha256", "signature", "sig", "hmac", "bearer", "t=1,v1"].map((name) =>
      look({ headers: { "x-signature": `${name}=${mac(BODY)}` } }),
    );
    for (const { diagnosis } of [...named, ...REFUSED_CASES.map(look)]) {
      const told = `${diagnosis?.message} ${diagnosis?.remedy}`;
      expect(text(told)).toBe(told);
    }
    for (const { meaning, remedy: advice } of Object.values(DIAGNOSES))
      expect(text(meaning + advice)).toBe(meaning + advice);
  });

  it("comes to an end for whatever a stranger sends", () => {
    const value = fc.oneof(
      fc.string(),
      fc.string({ unit: "binary" }),
      fc.constantFrom("t=1,v1=", "v1,", "=", "sha256=", "%", "0x"),
    );
    const bodies = fc.oneof(
      fc.uint8Array(),
      fc.json().map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(
        value,
        bodies,
        fc.constantFrom("x-signature", "stripe-signature", "webhook-signature"),
        (text, body, name) => {
          expect(look({ headers: { [name]: text }, body }).diagnosis?.code).toBeTypeOf("string");
        },
      ),
    );
  });

  it("finds any JSON again that was written without spaces, whatever its strings and numbers", () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: "grapheme" }), fc.constantFrom(2, 4, "\t"), (text, indent) => {
        const value: unknown = JSON.parse(text);
        const sent = JSON.stringify(value);
        const arrived = JSON.stringify(value, null, indent);
        fc.pre(sent !== arrived);
        expect(look({ headers: { "x-signature": mac(sent) }, body: arrived }).diagnosis?.code).toBe(
          "reserialised",
        );
      }),
    );
  });

  it("takes no more than four signatures of a request, however many stand in it", () => {
    const many = Array.from({ length: 200 }, (_, index) => mac(String(index)));
    expect(offeredSignature({ "x-signature": many }).claims).toHaveLength(4);
    expect(offeredSignature({ "x-hub-signature-256": [many.join(",")] }).claims.length).toBeLessThanOrEqual(
      4,
    );
    expect(look({ headers: { "x-signature": many } }).diagnosis?.code).toBe("unknown");
  });

  it("makes a bounded number of steps of a body that offers many guesses", () => {
    const items = Array.from({ length: 400 }, (_, index) => [`k${400 - index}/é<"`, index + 0.5]);
    const { diagnosis, steps } = look({
      headers: { "x-signature": "0".repeat(64) },
      body: JSON.stringify(Object.fromEntries(items)),
    });
    expect(diagnosis?.code).toBe("unknown");
    expect(steps).toBeGreaterThan(100);
    expect(steps).toBeLessThan(1_000);
    const long = JSON.stringify({ text: "é/<".repeat(16_000), b: 1, a: 1.5 });
    expect(look({ headers: { "x-signature": "0".repeat(64) }, body: long }).steps).toBeLessThan(steps);
  });
});

function tell(
  code: FaultCode,
  headers: Record<string, readonly string[]>,
  words: Parameters<typeof refused>[1] = {},
) {
  const expected = {
    secrets: { accepted: [], named: [] },
    toleranceSeconds: 300,
    tokens: { tokens: [TOKEN], header: "X-Callback-Token" },
  };
  const suspect = { headers, body: Buffer.from(BODY), method: "POST", url: URL_CALLED };
  return run(diagnose(refused(code, words), suspect, expected, NOW)).diagnosis;
}

describe("the diagnosis of a timestamp", () => {
  it.each([
    [
      "timestamp_stale",
      ["1767225269"],
      "stale",
      "lies 331 s behind this machine's clock, and 300 s are allowed",
    ],
    ["timestamp_stale", ["1767229200"], "stale", "lies 3600 s ahead of this machine's clock"],
    ["timestamp_missing", [], "timestamp", "X-Timestamp is missing"],
    ["timestamp_missing", ["1767225600", "1767225600"], "timestamp", "stands in the request 2 times"],
    ["timestamp_missing", ["1767225600000"], "timestamp", "is in milliseconds"],
    ["timestamp_missing", ["2026-01-01T00:00:00Z"], "timestamp", "no whole number of seconds"],
  ] as const)("of %s with %j says what is wrong with it", (code, values, expected, message) => {
    expect(tell(code, { "x-timestamp": values })).toMatchObject({
      code: expected,
      message: expect.stringContaining(message),
    });
  });
});

describe("the diagnosis of a token", () => {
  it.each([`Bearer ${TOKEN}`, `"${TOKEN}"`, `bearer "${TOKEN}"`, encodeURIComponent(` ${TOKEN}`)])(
    "finds out that it is right but for what stands around it: %s",
    (value) => {
      expect(tell("token_mismatch", { "x-callback-token": [value] })).toMatchObject({
        code: "token_spelling",
      });
    },
  );

  it.each(["", "another", `${TOKEN}x`, `${TOKEN.slice(0, -1)}`, "%", "x".repeat(5_000)])(
    "says of another one no more than that: %s",
    (value) => {
      expect(tell("token_mismatch", { "x-callback-token": [value] })).toEqual({
        code: "token_mismatch",
        message: "The token is none of the accepted ones.",
        remedy: DIAGNOSES.token_mismatch.remedy,
        confirmed: false,
      });
    },
  );

  it("says of a JWT what the log is told", () => {
    const words = { detail: '"exp" was 42 s ago', diagnosis: "jwt_expired" } as const;
    expect(tell("jwt_claims", {}, words)).toEqual({
      code: "jwt_expired",
      message: 'The JWT was refused: "exp" was 42 s ago.',
      remedy: DIAGNOSES.jwt_expired.remedy,
      confirmed: true,
    });
    expect(tell("jwt_body_mismatch", {})).toMatchObject({ code: "jwt_body" });
  });

  it("is asked for of what is not authentic, and of nothing else", () => {
    expect(isDiagnosable(refused("token_missing"))).toBe(true);
    expect(isDiagnosable(refused("body_not_json"))).toBe(false);
    expect(tell("body_not_json", {})).toBeUndefined();
  });
});
