import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Diagnosis, type FaultCode, REMEDIES, refused } from "../../../src/domain/index.ts";
import { createMask } from "../../../src/observability/index.ts";
import { compileCandidates } from "../../../src/sources/diagnose/candidates.ts";
import { compileOffered } from "../../../src/sources/diagnose/offered.ts";
import {
  builtInProtocol,
  createDiagnosis,
  createHmacScheme,
  isDiagnosable,
  platformHmac,
} from "../../../src/sources/index.ts";
import { POSTED } from "../../support/posted.ts";
import {
  BODY,
  CURRENT,
  mac,
  PREVIOUS,
  REFUSED_CASES,
  RETIRED,
  type RefusedCase,
  TEST,
} from "../schemes/refused-cases.ts";

const NOW = new Date("2026-01-01T00:00:00Z");
const NAMED = [
  { name: "test", secret: TEST },
  { name: "previous-2024", secret: RETIRED },
];
const TOKEN = "the-token-the-platform-sends";

function requestOf({ headers = {}, body = BODY }: Partial<RefusedCase>) {
  const distinct = Object.entries(headers).map(([name, value]) => [name, [value].flat()]);
  return {
    ...POSTED,
    headers: Object.fromEntries(distinct) as Record<string, string[]>,
    body: Buffer.from(body),
  };
}

/** The diagnosis of a request that the scheme itself refuses. */
function diagnosed(one: Partial<RefusedCase>): Diagnosis | undefined {
  const { accepted = [CURRENT, PREVIOUS] } = one;
  const request = requestOf(one);
  const scheme = createHmacScheme(platformHmac(null), { secrets: accepted, clock: { now: () => NOW } });
  const refusal = scheme.verify(request);
  if (refusal instanceof Promise || !("code" in refusal) || refusal.kind !== "refused")
    throw new Error("this request is authentic, so that there is nothing to diagnose");
  const diagnose = createDiagnosis(
    builtInProtocol({
      secrets: accepted,
      named: NAMED,
      tokens: { tokens: [], header: "x" },
    }),
  );
  return diagnose(refusal, request);
}

describe("the diagnosis of a signature", () => {
  it.each(REFUSED_CASES.map((one) => [one.title, one] as const))("a diagnosis finds the cause: %s", (_title, one) => {
    const diagnosis = diagnosed(one);
    expect(diagnosis).toMatchObject({ code: one.code, message: expect.stringContaining(one.message) });
    expect(diagnosis?.remedy).toContain(REMEDIES[one.code]);
  });

  it("every code of a signature's diagnosis has a case", () => {
    const found = new Set(REFUSED_CASES.map(({ code }) => code));
    const others = Object.keys(REMEDIES).filter((code) => !/^(token_|jwt_|timestamp$)/.test(code));
    expect([...found].toSorted()).toEqual(others.toSorted());
  });

  it("a diagnosis is confirmed where a known secret made the digest, and nowhere else", () => {
    const unsigned = /^(missing|malformed|truncated|unknown)$/;
    for (const one of REFUSED_CASES) {
      const expected = !unsigned.test(one.code) && one.headers?.["paypal-transmission-sig"] === undefined;
      expect([one.title, diagnosed(one)?.confirmed]).toEqual([one.title, expected]);
    }
    for (const value of [
      ["foo", "bar"],
      ["0".repeat(64), "1".repeat(64)],
    ])
      expect(diagnosed({ headers: { "x-signature": value } })).toMatchObject({ confirmed: false });
  });

  it("a diagnosis contains neither a digest nor a secret nor what the caller sent", () => {
    for (const one of REFUSED_CASES) {
      const text = JSON.stringify(diagnosed(one));
      for (const value of Object.values(one.headers ?? {}).flat())
        if (value.length > 8) expect(text.includes(value)).toBe(false);
      expect(text).not.toMatch(/[0-9a-f]{32}|[A-Za-z0-9+/_-]{32}/i);
      for (const secret of [CURRENT, PREVIOUS, TEST, RETIRED]) expect(text.includes(secret)).toBe(false);
    }
  });

  it("a diagnosis stays readable in the log, which masks what looks like a secret", () => {
    const { text } = createMask({ secretValues: [CURRENT, PREVIOUS] });
    const named = ["sha256", "signature", "sig", "hmac", "bearer", "t=1,v1"].map((name) =>
      diagnosed({ headers: { "x-signature": `${name}=${mac(BODY)}` } }),
    );
    for (const diagnosis of [...named, ...REFUSED_CASES.map(diagnosed)]) {
      const line = `${diagnosis?.message} ${diagnosis?.remedy}`;
      expect(text(line)).toBe(line);
    }
    for (const remedy of Object.values(REMEDIES)) expect(text(remedy)).toBe(remedy);
  });

  it("a diagnosis has a code for every header and body that an unauthenticated sender can send", {
    tags: "full",
  }, () => {
    const value = fc.oneof(
      fc.string(),
      fc.string({ unit: "binary" }),
      fc.constantFrom("t=1,v1=", "v1,", "=", "sha256=", "%", "0x", `t=1,v1=${mac("x")}`, mac("x")),
    );
    const bodies = fc.oneof(
      fc.uint8Array(),
      fc.json().map((text) => Buffer.from(text)),
    );
    const name = fc.constantFrom("x-signature", "stripe-signature", "webhook-signature");
    fc.assert(
      fc.property(value, bodies, name, (text, body, header) => {
        expect(diagnosed({ headers: { [header]: text }, body })?.code).toBeTypeOf("string");
      }),
    );
  });

  it("a diagnosis finds compact JSON that was indented on the way, with any strings and numbers", () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: "grapheme" }), fc.constantFrom(2, 4, "\t"), (text, indent) => {
        const value: unknown = JSON.parse(text);
        const signed = JSON.stringify(value);
        const arrived = JSON.stringify(value, null, indent);
        fc.pre(signed !== arrived);
        const { code } = diagnosed({ headers: { "x-signature": mac(signed) }, body: arrived }) ?? {};
        expect(code).toBe("body_changed");
      }),
    );
  });

  it("a diagnosis reads at most four signatures, in headers of at most 4096 characters", () => {
    const offered = compileOffered(platformHmac(null));
    const many = Array.from({ length: 200 }, (_, index) => mac(String(index)));
    expect(offered({ "x-signature": many }).digests).toHaveLength(4);
    expect(offered({ "x-hub-signature-256": [many.slice(0, 31).join(",")] }).digests).toHaveLength(4);
    const padded = (length: number) => offered({ "x-signature": [`${mac(BODY)},`.padEnd(length, "x")] });
    expect([padded(4_096).digests.length, padded(4_097).digests.length]).toEqual([1, 0]);
  });
});

/** Arrays in arrays, whose indent grows with their depth. */
function nested(bytes: number, depth: number): string {
  const items = "1,".repeat((bytes - 4 * depth) / 2 - 1);
  return `${"[1,".repeat(depth)}[${items}1]${"]".repeat(depth)}`;
}

const COSTLY: readonly (readonly [string, string])[] = [
  ["numbers in 16 arrays", nested(65_500, 15)],
  ["numbers in 17 arrays", nested(65_500, 16)],
  ["arrays 30000 deep", `${"[".repeat(30_000)}${"]".repeat(30_000)}`],
  ["one string of slashes", JSON.stringify({ a: "/".repeat(65_400) })],
  ["one string beyond ASCII", JSON.stringify({ a: "é".repeat(32_700) })],
  ["many keys", JSON.stringify(Object.fromEntries(Array.from({ length: 6_000 }, (_, n) => [`k${n}`, 1])))],
  ["line breaks", "\n".repeat(65_536)],
];

describe("the work of a diagnosis", () => {
  const accepted = [`whsec_${"ab".repeat(32)}`, `whsec_${"cd".repeat(32)}`];
  const named = Array.from({ length: 16 }, (_, index) => ({
    name: `e${index}`,
    secret: `${index}`.repeat(32),
  }));
  const headers = {
    "x-signature": ["0".repeat(64)],
    "x-timestamp": ["1767225300"],
    "webhook-id": ["msg_1"],
  };
  const work = (body: Buffer) => {
    const candidatesFor = compileCandidates(platformHmac(null), {
      ...{ name: "platform", title: "the platform", isOwn: false, named, otherSources: [] },
      ...{ secrets: () => accepted, secretName: () => "SIGNING_SECRET" },
    });
    const candidates = [...candidatesFor({ ...POSTED, headers, body }, "1767225300")];
    const parts = candidates.flatMap(({ content }) =>
      (content instanceof Uint8Array ? [content] : content).map((part) => Buffer.from(part as string).length),
    );
    return { hmacs: candidates.length, bytes: parts.reduce((sum, length) => sum + length, 0) };
  };

  it.each(COSTLY)("a diagnosis hashes at most 8 MB in 76 HMACs for 64 KiB of %s", (_title, text) => {
    const { hmacs, bytes } = work(Buffer.from(text));
    expect(hmacs).toBeGreaterThan(50);
    expect(hmacs).toBeLessThanOrEqual(76);
    expect(bytes).toBeLessThanOrEqual(8_000_000);
  });

  it("a diagnosis makes one HMAC for each secret over a body of more than 64 KiB", () => {
    expect(work(Buffer.alloc(65_537, "{"))).toEqual({ hmacs: 18, bytes: 18 * 65_537 });
  });
});

function diagnosedFault(code: FaultCode, headers: Record<string, readonly string[]>, detail?: string) {
  const diagnose = createDiagnosis(
    builtInProtocol({
      secrets: [CURRENT],
      named: [],
      tokens: { tokens: [TOKEN], header: "X-Callback-Token" },
    }),
  );
  const request = { ...POSTED, headers, body: Buffer.from(BODY) };
  const refusal = refused(code, detail === undefined ? {} : { detail });
  return diagnose(refusal, request);
}

describe("the diagnosis of a timestamp", () => {
  const scheme = createHmacScheme(platformHmac(300), { secrets: [CURRENT], clock: { now: () => NOW } });

  it.each([
    ["timestamp_stale", ["1767225269"], "331 s ago, expected at most 300 s"],
    ["timestamp_stale", ["1767229200"], "3600 s ahead, expected at most 300 s"],
    ["timestamp_missing", [], "missing, expected whole seconds since the epoch"],
    ["timestamp_missing", [""], "missing, expected whole seconds since the epoch"],
    ["timestamp_missing", ["1767225600", "1767225600"], "stands 2 times, expected once"],
    ["timestamp_missing", ["1767225600000"], "in milliseconds, expected whole seconds since the epoch"],
    ["timestamp_missing", ["2026-01-01T00:00:00Z"], "in another form, expected whole seconds since the epoch"],
  ] as const)("a diagnosis of %s with %j names the problem of the timestamp", (code, values, problem) => {
    const headers = { "x-signature": [mac(BODY)], "x-timestamp": values };
    const refusal = scheme.verify({ ...POSTED, headers, body: Buffer.from(BODY) });
    expect(refusal).toMatchObject({ code, detail: `\`X-Timestamp\`: ${problem}` });
    const { detail } = refusal as { detail?: string };
    expect(diagnosedFault(code, headers, detail)).toMatchObject({
      code: "timestamp",
      message: `The signature is correct; \`X-Timestamp\`: ${problem}.`,
      confirmed: true,
    });
  });
});

describe("the diagnosis of a token", () => {
  it.each([`Bearer ${TOKEN}`, `"${TOKEN}"`, `bearer "${TOKEN}"`, ` '${TOKEN}' `])(
    "a diagnosis finds a correct token inside other text: %s",
    (value) => {
      expect(diagnosedFault("token_mismatch", { "x-callback-token": [value] })).toMatchObject({
        code: "token_mismatch",
        message: expect.stringContaining("correct except for what surrounds it"),
        confirmed: true,
      });
    },
  );

  it.each(["", "another", `${TOKEN}x`, `${TOKEN.slice(0, -1)}`, "%", "x".repeat(5_000)])(
    "a diagnosis says only that another token is not accepted: %s",
    (value) => {
      expect(diagnosedFault("token_mismatch", { "x-callback-token": [value] })).toEqual({
        code: "token_mismatch",
        message: "The token is none of the accepted ones.",
        remedy: REMEDIES.token_mismatch,
        confirmed: false,
      });
    },
  );

  it("the diagnosis of a JWT repeats the detail of the log", () => {
    expect(diagnosedFault("jwt_claims", {}, '"exp" was 42 s ago')).toEqual({
      code: "jwt_claims",
      message: 'The JWT was refused: "exp" was 42 s ago.',
      remedy: REMEDIES.jwt_claims,
      confirmed: true,
    });
    expect(diagnosedFault("jwt_body_mismatch", {})).toMatchObject({ code: "body_changed", confirmed: true });
    expect(diagnosedFault("jwt_signature", {})).toMatchObject({ code: "jwt_signature", confirmed: false });
  });

  it("a diagnosis exists for a request that is not authentic, and for no other refusal", () => {
    expect(isDiagnosable(refused("token_missing"))).toBe(true);
    expect(isDiagnosable(refused("body_not_json"))).toBe(false);
    expect(diagnosedFault("body_not_json", {})).toBeUndefined();
  });
});
