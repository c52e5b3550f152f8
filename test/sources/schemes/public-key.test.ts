import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPublicKeyScheme, type PublicKeyData } from "../../../src/sources/schemes/public-key.ts";
import { POSTED } from "../../support/posted.ts";

const NOW = new Date("2026-03-04T12:00:00Z");
const SECONDS = String(NOW.getTime() / 1_000);
const BODY = Buffer.from([0x7b, 0xff, 0x00, 0x7d, 0x0d, 0x0a]);
const clock = { now: () => NOW };

const ed25519 = () => generateKeyPairSync("ed25519");
const p256 = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const rsa = (modulusLength = 2_048) => generateKeyPairSync("rsa", { modulusLength });
type Pair = ReturnType<typeof ed25519>;

const pem = (key: KeyObject) => key.export({ type: "spki", format: "pem" }).toString();
const spki = (key: KeyObject) => key.export({ type: "spki", format: "der" });
const raw = (key: KeyObject) => spki(key).subarray(-32);

/** As Discord, Telnyx, SendGrid, Wise and a platform of our own send their signatures. */
const DISCORD: PublicKeyData = {
  algorithm: "ed25519",
  key: "hex",
  signature: { header: "X-Signature-Ed25519", encoding: "hex" },
  signed: "{timestamp}{body}",
  timestamp: { header: "X-Signature-Timestamp", unit: "seconds", toleranceSeconds: null },
};
const TELNYX: PublicKeyData = {
  algorithm: "ed25519",
  signature: { header: "telnyx-signature-ed25519", encoding: "base64" },
  signed: "{timestamp}|{body}",
  timestamp: { header: "telnyx-timestamp", unit: "seconds", toleranceSeconds: 300 },
};
const SENDGRID: PublicKeyData = {
  algorithm: "ecdsa-p256-sha256",
  signature: { header: "X-Twilio-Email-Event-Webhook-Signature", encoding: "base64" },
  signed: "{timestamp}{body}",
  timestamp: { header: "X-Twilio-Email-Event-Webhook-Timestamp", unit: "seconds", toleranceSeconds: null },
};
const WISE: PublicKeyData = {
  algorithm: "rsa-sha256",
  signature: { header: "X-Signature-SHA256", encoding: "base64" },
  signed: "{body}",
};
const OWN: PublicKeyData = {
  algorithm: "ecdsa-p256-sha256",
  signature: { header: "X-Own", encoding: "base64url", prefix: "v1=", format: "p1363" },
  signed: "{body}",
};

interface Case {
  readonly data: PublicKeyData;
  readonly pair: () => Pair;
  readonly text: (key: KeyObject) => string;
  readonly before: string;
  readonly digest: string | null;
}

const RSA_PAIRS = [rsa(), rsa(), rsa()];
let given = 0;
const rsaPair = () => RSA_PAIRS[given++ % RSA_PAIRS.length] as Pair;

const CASES: readonly (readonly [string, Case])[] = [
  ["Discord", { data: DISCORD, pair: ed25519, text: (key) => raw(key).toString("hex"), before: SECONDS, digest: null }],
  [
    "Telnyx",
    {
      data: TELNYX,
      pair: ed25519,
      text: (key) => raw(key).toString("base64"),
      before: `${SECONDS}|`,
      digest: null,
    },
  ],
  [
    "SendGrid",
    {
      data: SENDGRID,
      pair: p256,
      text: (key) => spki(key).toString("base64"),
      before: SECONDS,
      digest: "sha256",
    },
  ],
  ["Wise", { data: WISE, pair: rsaPair, text: pem, before: "", digest: "sha256" }],
  ["an own platform", { data: OWN, pair: p256, text: pem, before: "", digest: "sha256" }],
];

function signed({ data, before, digest }: Case, key: KeyObject, body: Uint8Array = BODY) {
  const { format = "der", encoding, header, prefix = "" } = data.signature;
  const dsaEncoding = format === "der" ? "der" : "ieee-p1363";
  const made = sign(digest, Buffer.concat([Buffer.from(before), body]), { key, dsaEncoding });
  const time: Record<string, string[]> = {};
  for (const name of [data.timestamp?.header ?? []].flat()) time[name.toLowerCase()] = [SECONDS];
  return {
    headers: { ...time, [header.toLowerCase()]: [prefix + made.toString(encoding)] },
    signature: made,
  };
}

const verify = (data: PublicKeyData, keys: readonly string[], request: object) =>
  createPublicKeyScheme(data, { keys, clock, origin: () => "https://hooks.example" }).verify({
    ...POSTED,
    body: BODY,
    headers: {},
    ...request,
  });

describe.each(CASES)("a signature with a private key, as %s sends it", (_name, one) => {
  const { data, text } = one;
  const header = data.signature.header.toLowerCase();

  it("a signature with a private key is accepted with each of several public keys, and the result has the key's index", () => {
    const pairs = [one.pair(), one.pair(), one.pair()];
    const keys = pairs.map(({ publicKey }) => text(publicKey));
    for (const [index, { privateKey }] of pairs.entries())
      expect(verify(data, keys, signed(one, privateKey))).toMatchObject({
        verified: [{ method: "public_key", index }],
      });
  });

  it("a signature of an unknown key is refused", () => {
    const [known, stranger] = [one.pair(), one.pair()];
    expect(verify(data, [text(known.publicKey)], signed(one, stranger.privateKey))).toMatchObject({
      code: "signature_mismatch",
      detail: expect.stringContaining(data.signature.header),
    });
  });

  it("a body of other bytes is refused, also of such as are no UTF-8", () => {
    const { publicKey, privateKey } = one.pair();
    const request = signed(one, privateKey);
    for (const body of [BODY.subarray(0, -2), Buffer.from(BODY).fill(0xfe, 1, 2), Buffer.of()])
      expect(verify(data, [text(publicKey)], { ...request, body })).toHaveProperty("code", "signature_mismatch");
  });

  it("each flipped bit of a signature refuses it", () => {
    const { publicKey, privateKey } = one.pair();
    const { headers, signature } = signed(one, privateKey);
    const { encoding, prefix = "" } = data.signature;
    const bits = fc.integer({ min: 0, max: signature.length * 8 - 1 });
    fc.assert(
      fc.property(bits, (bit) => {
        const flipped = Buffer.from(signature);
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const changed = { ...headers, [header]: [prefix + flipped.toString(encoding)] };
        expect(verify(data, [text(publicKey)], { headers: changed })).toHaveProperty("code", "signature_mismatch");
      }),
      { numRuns: 60 },
    );
  });

  it("a signature has one encoding; every other text for the same bytes is malformed", () => {
    const { publicKey, privateKey } = one.pair();
    const { headers } = signed(one, privateKey);
    const [sent = ""] = headers[header] ?? [];
    const others = [
      `${sent}=`,
      `${sent} `,
      `${sent}\n`,
      ` ${sent}`,
      sent.slice(1),
      `${sent.slice(0, 8)}!${sent.slice(9)}`,
    ];
    if (data.signature.encoding === "hex") others.push(sent.toUpperCase());
    for (const other of others)
      expect(verify(data, [text(publicKey)], { headers: { ...headers, [header]: [other] } })).toMatchObject({
        code: "signature_malformed",
        detail: expect.stringContaining(data.signature.encoding),
      });
  });

  it("a signature that is missing, empty or repeated has a code of its own", () => {
    const { publicKey, privateKey } = one.pair();
    const { headers } = signed(one, privateKey);
    const [sent = ""] = headers[header] ?? [];
    const code = (values: string[] | undefined) =>
      verify(data, [text(publicKey)], { headers: { ...headers, [header]: values } });
    expect(code(undefined)).toMatchObject({ code: "signature_missing", isCredentialMissing: true });
    expect(code([""])).toHaveProperty("code", "signature_missing");
    expect(code([sent, sent])).toHaveProperty("code", "signature_repeated");
  });
});

describe("a signature with a private key", () => {
  it("the time of a signature with a private key is signed, and bounded where the platform says so", () => {
    const { publicKey, privateKey } = ed25519();
    const keys = [raw(publicKey).toString("base64")];
    const at = (seconds: number) => {
      const made = sign(null, Buffer.concat([Buffer.from(`${seconds}|`), BODY]), privateKey);
      const headers = {
        "telnyx-timestamp": [String(seconds)],
        "telnyx-signature-ed25519": [made.toString("base64")],
      };
      return verify(TELNYX, keys, { headers });
    };
    for (const distance of [-300, 0, 300]) expect(at(Number(SECONDS) + distance)).toHaveProperty("verified");
    for (const distance of [-301, 301])
      expect(at(Number(SECONDS) + distance)).toMatchObject({
        code: "timestamp_stale",
        detail: expect.stringMatching(/^`telnyx-timestamp`: 301 s/),
      });
    const { headers } = signed((CASES[1] as (typeof CASES)[0])[1], privateKey);
    const later = { ...headers, "telnyx-timestamp": [String(Number(SECONDS) + 1)] };
    expect(verify(TELNYX, keys, { headers: later })).toHaveProperty("code", "signature_mismatch");
  });

  it("an ECDSA signature of the other format is refused", () => {
    const { publicKey, privateKey } = p256();
    for (const [format, dsaEncoding] of [
      ["der", "ieee-p1363"],
      ["p1363", "der"],
    ] as const) {
      const data = { ...OWN, signature: { header: "X-Own", encoding: "hex", format } } as const;
      const made = sign("sha256", BODY, { key: privateKey, dsaEncoding }).toString("hex");
      expect(verify(data, [pem(publicKey)], { headers: { "x-own": [made] } })).toHaveProperty(
        "code",
        "signature_mismatch",
      );
    }
  });

  it("a signature of RSA is accepted with the one padding and digest that is configured", () => {
    const { publicKey, privateKey } = rsaPair();
    const made = {
      "rsa-sha1": sign("sha1", BODY, privateKey),
      "rsa-sha256": sign("sha256", BODY, privateKey),
      "rsa-sha512": sign("sha512", BODY, privateKey),
      "rsa-pss-sha256": sign("sha256", BODY, { key: privateKey, padding: 6, saltLength: 32 }),
      "rsa-pss-sha512": sign("sha512", BODY, { key: privateKey, padding: 6, saltLength: 64 }),
    };
    const names = Object.keys(made) as (keyof typeof made)[];
    for (const algorithm of names) {
      for (const name of names) {
        const headers = { "x-signature-sha256": [made[name].toString("base64")] };
        const verdict = verify({ ...WISE, algorithm }, [pem(publicKey)], { headers });
        expect("verified" in verdict, `${algorithm} by ${name}`).toBe(algorithm === name);
      }
    }
  });

  it.each([
    [
      "an RSA key below 2048 bits",
      WISE,
      pem(rsa(1_024).publicKey),
      "`publicKey`: got rsa 1024 bits, expected an RSA key of at least 2048 bits",
    ],
    ["a key of another type", WISE, pem(p256().publicKey), "`publicKey`: got ec prime256v1, expected an RSA key"],
    [
      "a key on another curve",
      OWN,
      pem(generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey),
      "got ec secp384r1, expected an EC key on P-256",
    ],
    ["a key that was cut off", DISCORD, "ab".repeat(31), "its 31 bytes are no public key; expected an Ed25519 key"],
    ["a text that is no key", DISCORD, "hello", "is neither PEM nor hex; expected an Ed25519 key"],
    [
      "a private key",
      WISE,
      RSA_PAIRS[0]?.privateKey.export({ type: "pkcs8", format: "pem" }).toString() ?? "",
      "is a private key; expected the public one alone",
    ],
    [
      "a PEM block of nonsense",
      WISE,
      "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
      "cannot be read as a public key",
    ],
  ])("%s is refused when the scheme is made", (_title, data, key, problem) => {
    expect(() => createPublicKeyScheme(data, { keys: [key], clock })).toThrow(problem);
  });

  it("a scheme without a key, or with a template that needs what there is not, is refused", () => {
    const keys = [pem(RSA_PAIRS[0]?.publicKey as KeyObject)];
    expect(() => createPublicKeyScheme(WISE, { keys: [], clock })).toThrow("got none, expected at least one");
    expect(() => createPublicKeyScheme({ ...WISE, signed: "{timestamp}{body}" }, { keys, clock })).toThrow(
      "{timestamp}",
    );
    expect(() => createPublicKeyScheme({ ...WISE, signed: "{secret}{body}" }, { keys, clock })).toThrow("{secret}");
  });

  it("the registered address may be signed, and the one in `Host` is not asked", () => {
    const { publicKey, privateKey } = rsaPair();
    const made = sign(
      "sha256",
      Buffer.concat([Buffer.from(`https://hooks.example${POSTED.target}`), BODY]),
      privateKey,
    );
    const headers = { host: ["evil.example"], "x-signature-sha256": [made.toString("base64")] };
    expect(verify({ ...WISE, signed: "{url}{body}" }, [pem(publicKey)], { headers })).toHaveProperty("verified");
  });
});
