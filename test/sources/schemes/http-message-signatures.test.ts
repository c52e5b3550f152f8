import { constants, createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import fc from "fast-check";
import { createSigner, httpbis } from "http-message-signatures";
import { describe, expect, it } from "vitest";
import {
  createMessageSignatureScheme,
  type MessageSignatureAlgorithm,
  type MessageSignatureKey,
  type MessageSignatureOptions,
} from "../../../src/sources/schemes/http-message-signatures.ts";

/** RFC 9421 appendix B.1: the keys that its examples are signed with. */
const RFC_KEYS: readonly MessageSignatureKey[] = [
  {
    id: "test-key-rsa-pss",
    algorithm: "rsa-pss-sha512",
    key: `MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAr4tmm3r20Wd/PbqvP1s2
+QEtvpuRaV8Yq40gjUR8y2Rjxa6dpG2GXHbPfvMs8ct+Lh1GH45x28Rw3Ry53mm+
oAXjyQ86OnDkZ5N8lYbggD4O3w6M6pAvLkhk95AndTrifbIFPNU8PPMO7OyrFAHq
gDsznjPFmTOtCEcN2Z1FpWgchwuYLPL+Wokqltd11nqqzi+bJ9cvSKADYdUAAN5W
Utzdpiy6LbTgSxP7ociU4Tn0g5I6aDZJ7A8Lzo0KSyZYoA485mqcO0GVAdVw9lq4
aOT9v6d+nb4bnNkQVklLQ3fVAvJm+xdDOp9LCNCN48V2pnDOkFV6+U9nV5oyc6XI
2wIDAQAB`.replaceAll("\n", ""),
  },
  {
    id: "test-key-ecc-p256",
    algorithm: "ecdsa-p256-sha256",
    key: "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lfw0EkjqF7xB4FivAxzic30tMM4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ==",
  },
  {
    id: "test-key-ed25519",
    algorithm: "ed25519",
    key: "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=\n-----END PUBLIC KEY-----\n",
  },
  {
    id: "test-shared-secret",
    algorithm: "hmac-sha256",
    key: Buffer.from(
      "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==",
      "base64",
    ),
  },
];
const CREATED = 1_618_884_473;
const RFC_BODY = Buffer.from('{"hello": "world"}');
const RFC_HEADERS = {
  host: ["example.com"],
  date: ["Tue, 20 Apr 2021 02:07:55 GMT"],
  "content-type": ["application/json"],
  "content-digest": [
    "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:",
  ],
  "content-length": ["18"],
};
const CLIENT_CERT =
  ":MIIBqDCCAU6gAwIBAgIBBzAKBggqhkjOPQQDAjA6MRswGQYDVQQKDBJMZXQncyBBdXRoZW50aWNhdGUxGzAZBgNVBAMMEkxBIEludGVybWVkaWF0ZSBDQTAeFw0yMDAxMTQyMjU1MzNaFw0yMTAxMjMyMjU1MzNaMA0xCzAJBgNVBAMMAkJDMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE8YnXXfaUgmnMtOXU/IncWalRhebrXmckC8vdgJ1p5Be5F/3YC8OthxM4+k1M6aEAEFcGzkJiNy6J84y7uzo9M6NyMHAwCQYDVR0TBAIwADAfBgNVHSMEGDAWgBRm3WjLa38lbEYCuiCPct0ZaSED2DAOBgNVHQ8BAf8EBAMCBsAwEwYDVR0lBAwwCgYIKwYBBQUHAwIwHQYDVR0RAQH/BBMwEYEPYmRjQGV4YW1wbGUuY29tMAoGCCqGSM49BAMCA0gAMEUCIBHda/r1vaL6G3VliL4/Di6YK0Q6bMjeSkC3dFCOOB8TAiEAx/kHSB4urmiZ0NX5r5XarmPk0wmuydBVoU4hBVZ1yhk=:";

/** Covered is what each example covers: RFC 9421 demands no component, this receiver does. */
const VECTORS = [
  {
    name: "B.2.1, rsa-pss-sha512 over nothing",
    input: 'sig-b21=();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd"',
    signature:
      "d2pmTvmbncD3xQm8E9ZV2828BjQWGgiwAaw5bAkgibUopemLJcWDy/lkbbHAve4cRAtx31Iq786U7it++wgGxbtRxf8Udx7zFZsckzXaJMkA7ChG52eSkFxykJeNqsrWH5S+oxNFlD4dzVuwe8DhTSja8xxbR/Z2cOGdCbzR72rgFWhzx2VjBqJzsPLMIQKhO4DGezXehhWwE56YCE+O6c0mKZsfxVrogUvA4HELjVKWmAvtl6UnCh8jYzuVG5WSb/QEVPnP5TmcAnLH1g+s++v6d4s8m0gCw1fV5/SITLq9mhho8K3+7EPYTU8IU1bLhdxO5Nyt8C8ssinQ98Xw9Q==",
    index: 0,
  },
  {
    name: "B.2.3, rsa-pss-sha512 over everything",
    input:
      'sig-b23=("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss"',
    signature:
      "bbN8oArOxYoyylQQUU6QYwrTuaxLwjAC9fbY2F6SVWvh0yBiMIRGOnMYwZ/5MR6fb0Kh1rIRASVxFkeGt683+qRpRRU5p2voTp768ZrCUb38K0fUxN0O0iC59DzYx8DFll5GmydPxSmme9v6ULbMFkl+V5B1TP/yPViV7KsLNmvKiLJH1pFkh/aYA2HXXZzNBXmIkoQoLd7YfW91kE9o/CCoC1xMy7JA1ipwvKvfrs65ldmlu9bpG6A9BmzhuzF8Eim5f8ui9eH8LZH896+QIF61ka39VBrohr9iyMUJpvRX2Zbhl5ZJzSRxpJyoEZAFL2FUo5fTIztsDZKEgM4cUA==",
    index: 0,
    body: RFC_BODY,
  },
  {
    name: "B.2.5, hmac-sha256",
    input: 'sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
    signature: "pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=",
    index: 3,
  },
  {
    name: "B.2.6, ed25519",
    input:
      'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
    signature: "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==",
    index: 2,
  },
  {
    name: "B.3, ecdsa-p256-sha256 behind a proxy",
    input: 'ttrp=("@path" "@query" "@method" "@authority" "client-cert");created=1618884473;keyid="test-key-ecc-p256"',
    signature: "xVMHVpawaAC/0SbHrKRs9i8I3eOs5RtTMGCWXm/9nvZzoHsIg6Mce9315T6xoklyy0yzhD9ah4JHRwMLOgmizw==",
    index: 1,
    origin: "https://service.internal.example",
    headers: { "client-cert": [CLIENT_CERT] },
  },
  {
    name: "B.4, ed25519 after a proxy has divided a header",
    input: 'transform=("@method" "@path" "@authority" "accept");created=1618884473;keyid="test-key-ed25519"',
    signature: "ZT1kooQsEHpZ0I1IjCqtQppOmIqlJPeo7DHR3SoMn0s5JZ1eRGS0A+vyYP9t/LXlh5QMFFQ6cpLt2m0pmj3NDA==",
    index: 2,
    method: "GET",
    target: "/demo?name1=Value1&Name2=value2",
    origin: "https://example.org",
    headers: { accept: ["application/json", "*/*"] },
  },
];

const at = (seconds: number) => ({ now: () => new Date(seconds * 1_000) });
const OPTIONS = {
  keys: RFC_KEYS,
  toleranceSeconds: 300,
  required: [],
  clock: at(CREATED),
  origin: () => "https://example.com",
};

describe("an HTTP message signature of RFC 9421", () => {
  const request = ({ name, input, signature, origin: _, index, ...over }: (typeof VECTORS)[number]) => {
    const [label = ""] = input.split("=");
    return {
      ...{ method: "POST", target: "/foo?param=Value&Pet=dog", body: Buffer.of(), ...over },
      headers: {
        ...RFC_HEADERS,
        ...over.headers,
        "signature-input": [input],
        signature: [`${label}=:${signature}:`],
      },
    };
  };
  const schemeFor = (
    { origin = "https://example.com" }: { origin?: string },
    over: Partial<MessageSignatureOptions> = {},
  ) => createMessageSignatureScheme({ ...OPTIONS, origin: () => origin, ...over });

  it.each(VECTORS)("the message signature of $name is accepted", (vector) => {
    const method = vector.index === 3 ? "hmac" : "public_key";
    const expected = { verified: [{ method, index: vector.index }] };
    expect(schemeFor(vector).verify(request(vector))).toMatchObject(expected);
  });

  it.each(VECTORS)(
    "the message signature of $name is refused after a change in anything that it covers",
    async (vector) => {
      const scheme = schemeFor(vector);
      const sent = request(vector);
      const covers = (name: string) => vector.input.includes(`"${name}"`);
      const changes: object[] = [{ headers: { ...sent.headers, "signature-input": [`${vector.input};x="1"`] } }];
      if (covers("@method")) changes.push({ method: "PUT" });
      if (covers("@path")) changes.push({ target: `/other${sent.target.slice(sent.target.indexOf("?"))}` });
      if (covers("@query")) changes.push({ target: sent.target.slice(0, sent.target.indexOf("?")) });
      for (const name of ["date", "content-type", "client-cert", "accept"])
        if (covers(name)) changes.push({ headers: { ...sent.headers, [name]: ["another"] } });
      for (const change of changes)
        expect(await scheme.verify({ ...sent, ...change })).toMatchObject({ code: "signature_mismatch" });
      if (covers("@authority"))
        expect(await schemeFor({ origin: "https://evil.example" }).verify(sent)).toMatchObject({
          code: "signature_mismatch",
        });
      expect(
        await schemeFor({ origin: vector.origin ?? "https://example.com" }).verify({
          ...sent,
          headers: { ...sent.headers, host: ["evil.example"] },
        }),
      ).toHaveProperty("verified");
    },
  );

  it("a message signature must cover the digest of a body that there is", async () => {
    for (const vector of VECTORS.filter(({ body }) => body === undefined))
      expect(await schemeFor(vector).verify({ ...request(vector), body: RFC_BODY })).toMatchObject({
        code: "signature_malformed",
        detail: expect.stringContaining("does not cover content-digest"),
      });
  });

  it("a message signature whose covered digest is another body's is refused", async () => {
    const vector = VECTORS[1] as (typeof VECTORS)[number];
    for (const body of [Buffer.from('{"hello": "World"}'), Buffer.of(), RFC_BODY.subarray(1)])
      expect(await schemeFor(vector).verify({ ...request(vector), body })).toMatchObject({
        code: "signature_mismatch",
        detail: "`Content-Digest`: its sha-512 is not the body's",
      });
  });

  it("the age of a message signature is bounded both ways", async () => {
    const vector = VECTORS[3] as (typeof VECTORS)[number];
    for (const [distance, isFresh] of [
      [-300, true],
      [300, true],
      [-301, false],
      [301, false],
    ] as const) {
      const verdict = await schemeFor(vector, { clock: at(CREATED + distance) }).verify(request(vector));
      expect("verified" in verdict).toBe(isFresh);
    }
    const early = schemeFor(vector, { clock: at(CREATED - 301) }).verify(request(vector));
    expect(await early).toHaveProperty(
      "detail",
      expect.stringMatching(/`: created 301 s ahead, expected at most 300 s$/),
    );
  });
});

const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const ed = generateKeyPairSync("ed25519");
const SECRET = Buffer.alloc(32, 7);
const pem = (key: KeyObject, type: "spki" | "pkcs8") => key.export({ type, format: "pem" } as never).toString();
const PAIRS: Record<MessageSignatureAlgorithm, { publicKey: string | Uint8Array; privateKey: string | Buffer }> = {
  ed25519: { publicKey: pem(ed.publicKey, "spki"), privateKey: pem(ed.privateKey, "pkcs8") },
  "ecdsa-p256-sha256": { publicKey: pem(ec.publicKey, "spki"), privateKey: pem(ec.privateKey, "pkcs8") },
  "hmac-sha256": { publicKey: SECRET, privateKey: SECRET },
  "rsa-pss-sha512": { publicKey: pem(rsa.publicKey, "spki"), privateKey: pem(rsa.privateKey, "pkcs8") },
  "rsa-v1_5-sha256": { publicKey: pem(rsa.publicKey, "spki"), privateKey: pem(rsa.privateKey, "pkcs8") },
};
const ALGORITHMS = Object.keys(PAIRS) as MessageSignatureAlgorithm[];

interface Signing {
  readonly algorithm: MessageSignatureAlgorithm;
  readonly fields?: readonly string[];
  readonly target?: string;
  readonly body?: Uint8Array;
  readonly params?: readonly string[];
  readonly paramValues?: object;
}

const ORIGIN = "https://hooks.example:8443";
const digestOf = (body: Uint8Array, name = "sha-256") =>
  `${name}=:${createHash(name.replace("-", "")).update(body).digest("base64")}:`;

function distinct({ headers }: { readonly headers: Record<string, string | string[]> }): Record<string, string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value].flat()]));
}

/** Of RSA-PSS the npm package takes the longest salt, where RFC 9421 §3.3.1 has 64 bytes. */
function signerOf(algorithm: MessageSignatureAlgorithm) {
  const key = PAIRS[algorithm].privateKey;
  const signer = createSigner(key, algorithm, "the-key");
  if (algorithm !== "rsa-pss-sha512") return signer;
  const options = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 };
  return { ...signer, sign: async (data: Buffer) => sign("sha512", data, options) };
}

/** Signs as the npm package does, which shares no code with what verifies. */
async function signedBy(signing: Signing) {
  const { algorithm, fields = ["@method", "@path", "content-digest"], target = "/api/a/callback?x=1" } = signing;
  const { body = Buffer.from("{}"), params = ["created", "keyid", "alg"], paramValues = {} } = signing;
  const message = await httpbis.signMessage(
    {
      key: signerOf(algorithm),
      fields: [...fields],
      params: [...params],
      paramValues: { created: new Date(CREATED * 1_000), ...paramValues },
    },
    {
      method: "POST",
      url: `${ORIGIN}${target}`,
      headers: { "content-digest": digestOf(body), "x-note": "a note" },
    },
  );
  const headers = distinct(message);
  return { method: "POST", target, body, headers };
}

const keyOf = (algorithm: MessageSignatureAlgorithm, id = "the-key"): MessageSignatureKey => ({
  id,
  algorithm,
  key: PAIRS[algorithm].publicKey,
});
const schemeOf = (keys: readonly MessageSignatureKey[], over: Partial<MessageSignatureOptions> = {}) =>
  createMessageSignatureScheme({
    keys,
    toleranceSeconds: 300,
    clock: at(CREATED),
    origin: () => ORIGIN,
    ...over,
  });

describe.each(ALGORITHMS)("a message signature that the npm package makes by %s", (algorithm) => {
  it("a message signature of another implementation is accepted with each derived component", async () => {
    const fields = [
      "@method",
      "@target-uri",
      "@authority",
      "@scheme",
      "@request-target",
      "@path",
      "@query",
      "content-digest",
      "x-note",
    ];
    for (const target of ["/api/a/callback?x=1", "/api/a/callback"])
      expect(await schemeOf([keyOf(algorithm)]).verify(await signedBy({ algorithm, fields, target }))).toHaveProperty(
        "verified",
      );
  });

  it("a message signature with any bit of it flipped is refused", async () => {
    const sent = await signedBy({ algorithm });
    const scheme = schemeOf([keyOf(algorithm)]);
    const [, label = "", text = ""] = /^(\w+)=:(.+):$/.exec(sent.headers.signature?.[0] ?? "") ?? [];
    const signature = Buffer.from(text, "base64");
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: signature.length * 8 - 1 }), async (bit) => {
        const flipped = Buffer.from(signature);
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const headers = { ...sent.headers, signature: [`${label}=:${flipped.toString("base64")}:`] };
        expect(await scheme.verify({ ...sent, headers })).toMatchObject({ code: "signature_mismatch" });
      }),
      { numRuns: 40 },
    );
  });

  it("a message signature is tried with the keys of its id and algorithm alone, and the result has the key's index", async () => {
    const others = ALGORITHMS.filter((other) => other !== algorithm).map((other) => keyOf(other));
    const sent = await signedBy({ algorithm });
    for (const place of [0, 2, others.length])
      expect(await schemeOf(others.toSpliced(place, 0, keyOf(algorithm))).verify(sent)).toMatchObject({
        verified: [{ index: place }],
      });
    expect(await schemeOf([...others, keyOf(algorithm, "another")]).verify(sent)).toMatchObject({
      code: "signature_mismatch",
    });
  });
});

describe("a message signature", () => {
  const scheme = schemeOf([keyOf("ed25519")]);
  const withHeaders = async (over: Record<string, string[] | undefined>, signing: Partial<Signing> = {}) => {
    const sent = await signedBy({ algorithm: "ed25519", ...signing });
    return scheme.verify({ ...sent, headers: { ...sent.headers, ...over } });
  };

  it("an HMAC made with a public key as its secret is refused", async () => {
    const forged = await httpbis.signMessage(
      {
        key: createSigner(Buffer.from(PAIRS.ed25519.publicKey as string), "hmac-sha256", "the-key"),
        fields: ["@method", "@path"],
        params: ["created", "keyid"],
        paramValues: { created: new Date(CREATED * 1_000) },
      },
      { method: "POST", url: `${ORIGIN}/a`, headers: {} },
    );
    const headers = distinct(forged);
    expect(await scheme.verify({ method: "POST", target: "/a", body: Buffer.of(), headers })).toMatchObject({
      code: "signature_mismatch",
    });
  });

  it("a message signature must cover the required components", async () => {
    expect(await withHeaders({}, { fields: ["@method", "content-digest"] })).toMatchObject({
      detail: "`sig`: does not cover @path",
    });
  });

  it("a message signature without `created` is refused", async () => {
    expect(await withHeaders({}, { params: ["keyid"] })).toMatchObject({ code: "timestamp_missing" });
  });

  it("a message signature past its `expires` is refused, whatever the tolerance", async () => {
    const expiring = (seconds: number) =>
      withHeaders(
        {},
        {
          params: ["created", "keyid", "expires"],
          paramValues: { expires: new Date((CREATED + seconds) * 1_000) },
        },
      );
    expect(await expiring(10)).toHaveProperty("verified");
    expect(await expiring(-4)).toHaveProperty("verified");
    expect(await expiring(-6)).toMatchObject({ code: "timestamp_stale", detail: "`sig`: expired 6 s ago" });
  });

  it("a message signature of another tag is not looked at where a tag is configured", async () => {
    const sent = await signedBy({
      algorithm: "ed25519",
      params: ["created", "keyid", "tag"],
      paramValues: { tag: "ours" },
    });
    expect(await schemeOf([keyOf("ed25519")], { tag: "ours" }).verify(sent)).toHaveProperty("verified");
    expect(await schemeOf([keyOf("ed25519")], { tag: "theirs" }).verify(sent)).toMatchObject({
      code: "signature_missing",
    });
  });

  it("one valid message signature among several is enough", async () => {
    const [one, other] = [await signedBy({ algorithm: "ed25519" }), await signedBy({ algorithm: "ecdsa-p256-sha256" })];
    const joined = (name: string) => [`a=${other.headers[name]?.[0]?.slice(4)}`, one.headers[name]?.[0] ?? ""];
    const headers = {
      ...one.headers,
      "signature-input": joined("signature-input"),
      signature: joined("signature"),
    };
    expect(await scheme.verify({ ...one, headers })).toHaveProperty("verified");
  });

  it.each([
    ["no signature", { signature: undefined }, "signature_missing"],
    ["no input", { "signature-input": undefined }, "signature_missing"],
    ["an input that is no dictionary", { "signature-input": ["sig=("] }, "signature_malformed"],
    ["an input that is no list", { "signature-input": ["sig=1"] }, "signature_malformed"],
    ["another label", { signature: ["other=:AAAA:"] }, "signature_malformed"],
    ["a signature that is no byte sequence", { signature: ['sig="AAAA"'] }, "signature_malformed"],
    ["spare bits in its base64", { signature: ["sig=:AB==:"] }, "signature_malformed"],
    ["its label twice", { signature: ["sig=:AAAA:", "sig=:AAAA:"] }, "signature_malformed"],
    [
      "a component with a parameter",
      { "signature-input": ['sig=("@method";req "@path" "content-digest");created=1'] },
      "signature_malformed",
    ],
    [
      "a component twice",
      { "signature-input": ['sig=("@method" "@method" "@path" "content-digest");created=1'] },
      "signature_malformed",
    ],
    [
      "a component in upper case",
      { "signature-input": ['sig=("@method" "@path" "Content-Digest");created=1'] },
      "signature_malformed",
    ],
    [
      "an unknown derived component",
      { "signature-input": ['sig=("@method" "@path" "@status" "content-digest");created=1'] },
      "signature_malformed",
    ],
    [
      "a header that is not there",
      { "signature-input": ['sig=("@method" "@path" "x-absent" "content-digest");created=1'] },
      "signature_malformed",
    ],
    ["a header without end", { "signature-input": [`sig=(${'"a" '.repeat(5_000)})`] }, "signature_malformed"],
  ])("a message signature with %s is refused", async (_title, over, code) => {
    expect(await withHeaders(over)).toMatchObject({ code });
  });

  it.each([
    ["a no-break space before it", "\u00a0a note", "signature_mismatch"],
    ["a character beyond latin1 whose lower byte was signed", "\u0161 note", "signature_malformed"],
    ["a line break", "a note\n", "signature_malformed"],
  ])("a covered header with %s is not the one that was signed", async (_title, note, code) => {
    const fields = ["@method", "@path", "x-note", "content-digest"];
    expect(await withHeaders({}, { fields })).toHaveProperty("verified");
    expect(await withHeaders({ "x-note": [note] }, { fields })).toMatchObject({ code });
  });

  it("an unknown digest beside a known one is not looked at, and alone it is refused", async () => {
    const sent = async (digest: string) => {
      const message = await httpbis.signMessage(
        {
          key: createSigner(PAIRS.ed25519.privateKey, "ed25519", "the-key"),
          fields: ["@method", "@path", "content-digest"],
          params: ["created", "keyid"],
          paramValues: { created: new Date(CREATED * 1_000) },
        },
        { method: "POST", url: `${ORIGIN}/a`, headers: { "content-digest": digest } },
      );
      const headers = distinct(message);
      return scheme.verify({ method: "POST", target: "/a", body: RFC_BODY, headers });
    };
    expect(await sent(`md5=:AAAA:, ${digestOf(RFC_BODY)}`)).toHaveProperty("verified");
    expect(await sent(`${digestOf(RFC_BODY)}, ${digestOf(RFC_BODY, "sha-512")}`)).toHaveProperty("verified");
    expect(await sent("md5=:AAAA:")).toMatchObject({ code: "signature_malformed" });
    expect(await sent(`${digestOf(RFC_BODY)}, ${digestOf(Buffer.of(1), "sha-512")}`)).toMatchObject({
      code: "signature_mismatch",
    });
  });

  it("no text in any header ever makes the scheme throw", async () => {
    const pieces = fc.constantFrom(
      "sig",
      "=",
      "(",
      ")",
      '"@method"',
      ";",
      ":AAAA:",
      ",",
      " ",
      '"',
      "\\",
      "?1",
      "1",
      "-",
      "*",
      "é",
    );
    const text = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(text, text, async (input, signature) => {
        const headers = { "signature-input": [input], signature: [signature] };
        const verdict = await scheme.verify({ method: "POST", target: "/", body: Buffer.of(), headers });
        expect(verdict).toHaveProperty("kind", "refused");
      }),
      { numRuns: 500 },
    );
  });

  it("a key that does not fit its algorithm, and a scheme without a key, are refused", () => {
    expect(() => schemeOf([])).toThrow("`keys`: got none");
    expect(() => schemeOf([{ ...keyOf("ed25519"), algorithm: "rsa-pss-sha512" }])).toThrow(
      "`keys.the-key`: got ed25519, expected an RSA key",
    );
    expect(() => schemeOf([{ id: "k", algorithm: "hmac-sha256", key: "short" }])).toThrow("`keys.k`: got 5 bytes");
  });
});
