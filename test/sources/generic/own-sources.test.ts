import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  hmac,
  type MessageSignatureSourceOptions,
  messageSignatures,
  type PublicKeySourceOptions,
  publicKey,
  type TokenSourceOptions,
  token,
} from "../../../src/sources/platforms/index.ts";
import { NOW, opened, sent } from "../../support/preset-source.ts";

const BODY = { id: "evt-1", type: "order.placed", at: "2026-06-15T11:59:00Z" };
const CONTRACT = { id: "body.id", type: "body.type", eventTime: { at: "body.at", unit: "iso" } } as const;
const EVENT = {
  event: { json: { event_id: "evt-1", event_type: "order.placed", timestamp: 1_781_524_740 } },
};
const SECONDS = String(NOW.getTime() / 1000);

const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const ed25519 = generateKeyPairSync("ed25519");
const pem = (pair: { publicKey: typeof rsa.publicKey }) =>
  pair.publicKey.export({ type: "spki", format: "pem" }).toString();

describe("a source with a token", () => {
  const verdictOf = (options: Omit<TokenSourceOptions, "id" | "type">, headers: Record<string, string>) =>
    opened(token({ ...CONTRACT, ...options })).scheme.verify(sent(BODY, { headers }));

  it.each([
    ["a header", { header: "X-Acme-Token" }, { "X-Acme-Token": "current" }],
    ["a bearer token", { header: "Authorization" }, { Authorization: "Bearer current" }],
    ["a prefix", { header: "Authorization", prefix: "Acme " }, { Authorization: "Acme current" }],
    ["basic authentication", { user: "acme" }, { Authorization: `Basic ${btoa("acme:current")}` }],
  ])("a source with a token takes %s, and tells which secret it was", async (_case, way, headers) => {
    const verdict = { verified: [{ method: "token", index: 0 }] };
    expect(await verdictOf({ secret: "current", ...way }, headers)).toEqual(verdict);
    expect(await verdictOf({ secret: ["next", "current"], ...way }, headers)).toMatchObject({
      verified: [{ index: 1 }],
    });
    expect(await verdictOf({ secret: "other", ...way }, headers)).toMatchObject({ code: "token_mismatch" });
    expect(await verdictOf({ secret: "current", ...way }, {})).toMatchObject({ code: "token_missing" });
  });

  it("a source with a token reads the event by its contract", () => {
    const source = token({ ...CONTRACT, secret: "current", header: "X-Acme-Token" });
    expect(opened(source).contract.read(sent(BODY))).toMatchObject(EVENT);
  });

  it.each([
    [{}, /token: `header`: got none, expected a text such as X-Acme-Token, or `user`/],
    [{ user: "acme", header: "X-Acme" }, /one way or the other/],
    [{ user: "a:b" }, /a text with a colon/],
    [{ header: "X-Acme", secret: undefined }, /token: `secret`: got none/],
    [{ header: "X-Acme", secret: " padded" }, /white space/],
    [{ heder: "X-Acme" }, /token: `heder`: no such option/],
  ])("wrong options are refused: %j", (options, message) => {
    const given = { ...CONTRACT, secret: "current", ...options } as TokenSourceOptions;
    expect(() => token(given)).toThrow(message);
  });
});

describe("a source with a public key", () => {
  const OPTIONS: PublicKeySourceOptions = {
    ...CONTRACT,
    publicKey: pem(rsa),
    algorithm: "rsa-sha256",
    signature: { header: "X-Acme-Signature", encoding: "base64" },
    signed: "{timestamp}.{body}",
    timestamp: { header: "X-Acme-Time", unit: "seconds", toleranceSeconds: 300 },
  };
  const headers = (keyId = "key-1") => ({
    "X-Acme-Key": keyId,
    "X-Acme-Time": SECONDS,
    "X-Acme-Signature": sign("sha256", Buffer.from(`${SECONDS}.${JSON.stringify(BODY)}`), rsa.privateKey).toString(
      "base64",
    ),
  });

  it("a source with a public key takes what the private key signed, and reads the event", async () => {
    const { scheme, contract } = opened(publicKey(OPTIONS));
    const request = sent(BODY, { headers: headers() });
    expect(await scheme.verify(request)).toMatchObject({ verified: [{ method: "public_key", index: 0 }] });
    expect(await scheme.verify({ ...request, body: Buffer.from("{}") })).toMatchObject({ kind: "refused" });
    expect(contract.read(request)).toMatchObject(EVENT);
  });

  it.each([
    ["{header.X-Acme-Id}.{body}", true],
    ["{body}", false],
  ])("an id in a header is signed where the template covers that header: %s", (template, isIdSigned) => {
    const { timestamp: _, ...rest } = { ...OPTIONS, id: "header.X-Acme-Id", signed: template };
    expect(opened(publicKey(rest)).contract.identity).toBe(isIdSigned ? "signed-id" : "id");
  });

  it("a source with a public key tries the one key that a header names, where keys have ids", async () => {
    const other = pem(generateKeyPairSync("rsa", { modulusLength: 2_048 }));
    const keys = { "key-0": other, "key-1": pem(rsa) };
    const { scheme } = opened(publicKey({ ...OPTIONS, publicKey: keys, keyId: "X-Acme-Key" }));
    const verdict = (id: string) => scheme.verify(sent(BODY, { headers: headers(id) }));
    expect(await verdict("key-1")).toMatchObject({ verified: [{ index: 1 }] });
    expect(await verdict("key-0")).toMatchObject({ code: "signature_mismatch" });
    expect(await verdict("key-2")).toMatchObject({ detail: "`X-Acme-Key`: no such key" });
  });

  it.each([
    [{ algorithm: "rs256" }, /public-key: `algorithm`: got "rs256", expected ed25519, ecdsa-p256-sha1/],
    [{ signature: undefined }, /public-key: `signature.header`: got none/],
    [{ signature: { header: "X" } }, /public-key: `signature.encoding`: got none, expected hex, base64/],
    [{ signed: "" }, /public-key: `signed`: got ""/],
    [{ publicKey: undefined }, /public-key: `publicKey`: got none/],
    [{ publicKey: { a: pem(rsa) } }, /public-key: `keyId`: got none/],
    [{ keyId: "X-Acme-Key" }, /expected keys by their ids/],
    [{ publicKey: { a: undefined }, keyId: "X-Acme-Key" }, /`publicKey.a`: got none/],
    [{ publicKey: pem(ed25519) }, /public-key: `publicKey`: got ed25519, expected an RSA key/],
  ])("wrong options are refused: case %#", (options, message) => {
    const given = { ...OPTIONS, ...options } as PublicKeySourceOptions;
    expect(() => publicKey(given)).toThrow(message);
  });
});

describe("a source with HTTP Message Signatures", () => {
  const SECRET = "a shared secret of the sender";
  const ACME_KEYS = [{ id: "acme-1", algorithm: "hmac-sha256" as const, key: SECRET }];
  const OPTIONS: MessageSignatureSourceOptions = {
    ...CONTRACT,
    keys: ACME_KEYS,
  };

  function signed(created = Number(SECONDS)) {
    const body = JSON.stringify(BODY);
    const digest = `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
    const parameters = `("@method" "@path" "content-digest");created=${created};keyid="acme-1"`;
    const base = [
      '"@method": POST',
      '"@path": /api/source/callback',
      `"content-digest": ${digest}`,
      `"@signature-params": ${parameters}`,
    ].join("\n");
    const signature = createHmac("sha256", SECRET).update(base).digest("base64");
    const headers = {
      "Content-Digest": digest,
      "Signature-Input": `sig1=${parameters}`,
      Signature: `sig1=:${signature}:`,
    };
    return sent(body, { headers });
  }

  it("a source with HTTP Message Signatures takes a signature of a known key, for five minutes", async () => {
    const { scheme, contract } = opened(messageSignatures(OPTIONS));
    expect(await scheme.verify(signed())).toMatchObject({ verified: [{ method: "hmac", index: 0 }] });
    expect(await scheme.verify(signed(Number(SECONDS) - 301))).toMatchObject({ code: "timestamp_stale" });
    expect(contract.read(signed())).toMatchObject(EVENT);
  });

  it.each([
    [["@path"], false],
    [["@path", "x-event-id"], true],
    [["@path", "x-event-id-2"], false],
    [["@query"], false],
  ])("an id in a header is signed where `required` names that header: %j", (required, isIdSigned) => {
    const source = messageSignatures({ ...OPTIONS, required, id: "header.X-Event-Id" });
    expect(opened(source).contract.identity).toBe(isIdSigned ? "signed-id" : "id");
  });

  it("a shared secret is kept from logs, and a public key is not", () => {
    const keys = [...ACME_KEYS, { id: "b", algorithm: "ed25519" as const, key: pem(ed25519) }];
    expect(messageSignatures({ ...OPTIONS, keys }).secrets).toEqual([SECRET]);
  });

  it.each([
    [{ keys: [] }, /message-signatures: `keys`: got none/],
    [{ keys: [{ algorithm: "ed25519", key: "x" }] }, /`keys\[0\].id`: got none/],
    [{ keys: [{ id: "a", algorithm: "rsa", key: "x" }] }, /`keys\[0\].algorithm`: got "rsa", expected ed25519/],
    [{ keys: [{ id: "a", algorithm: "ed25519" }] }, /`keys\[0\].key`: got none/],
    [{ toleranceSeconds: 0 }, /`toleranceSeconds`: got 0, expected seconds/],
    [{ tagg: "a" }, /message-signatures: `tagg`: no such option/],
    [{ required: ["X-Event-Id"] }, /`required`: got "X-Event-Id", expected .* in lower case/],
    [{ required: ["@query-param"] }, /`required`: got "@query-param", expected a list of components/],
    [{ required: "@path" }, /`required`: got "@path", expected a list of components/],
  ])("wrong options are refused: %j", (options, message) => {
    const given = { ...OPTIONS, ...options } as MessageSignatureSourceOptions;
    expect(() => messageSignatures(given)).toThrow(message);
  });
});

describe("a source with an HMAC", () => {
  const OPTIONS = {
    ...CONTRACT,
    secret: "s",
    signature: { header: "X-Acme", encoding: "hex" },
    signed: "{body}",
  } as const;

  it.each([
    [{ signature: { header: "", encoding: "hex" } }, /hmac: `signature.header`: got ""/],
    [{ signature: { header: "X-Acme", encoding: "b64" } }, /hmac: `signature.encoding`: got "b64", expected hex/],
    [{ signed: undefined }, /hmac: `signed`: got none/],
    [{ type: undefined }, /hmac: `type`: got none/],
    [{ algoritm: "sha1" }, /hmac: `algoritm`: no such option/],
  ])("wrong options are refused: %j", (options, message) => {
    expect(() => hmac({ ...OPTIONS, ...options } as Parameters<typeof hmac>[0])).toThrow(message);
  });

  const REPLY = { kind: "status", status: 200 } as const;

  it.each([
    [{ id: "bodyid" }, 'hmac: `id`: got "bodyid", expected a place such as body.id, item.id, header.X-Id'],
    [{ type: "{body.type" }, 'hmac: `type`: got "{body.type", expected a template such as {body.type}.'],
    [{ data: "object" }, 'hmac: `data`: got "object", expected a place such as'],
    [{ eventTime: { at: "created", unit: "iso" } }, 'hmac: `eventTime.at`: got "created", expected a place'],
    [{ batch: { at: "body..events" } }, 'hmac: `batch.at`: got "body..events", expected a place such as body.events'],
    [{ decode: [{ at: "data", as: "json" }] }, 'hmac: `decode`: got "data", expected a place in the body, such as'],
    [
      { handshakes: [{ isSigned: true, reply: REPLY }] },
      "hmac: `handshakes[0]`: got a POST without a condition, expected `when` or `isEmpty`, so that no event is taken for it",
    ],
    [
      {
        handshakes: [{ isSigned: false, isEmpty: true, reply: { kind: "visit", at: "body.url", hosts: [] } }],
      },
      "hmac: `handshakes[0]`: got an unsigned visit of an address, expected `isSigned: true`",
    ],
    [
      {
        handshakes: [{ isSigned: true, isEmpty: true, verifyToken: { at: "query.t", values: [""] }, reply: REPLY }],
      },
      "hmac: `handshakes[0]`: got an empty `verifyToken`, expected the text that you enter at the platform",
    ],
  ])("an option that the contract cannot use is named: %j", (options, message) => {
    expect(() => hmac({ ...OPTIONS, ...options } as Parameters<typeof hmac>[0])).toThrow(message);
  });

  it("a source with an HMAC reads the event's own time", () => {
    expect(opened(hmac(OPTIONS)).contract.read(sent(BODY))).toMatchObject(EVENT);
  });
});
