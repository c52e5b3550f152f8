import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type JwtAlgorithm, pemKeys } from "../../../src/sources/index.ts";

const pem = (key: KeyObject) => key.export({ type: "spki", format: "pem" }).toString();
const RSA = pem(generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey);
const SHORT = pem(generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey);
const PSS = pem(generateKeyPairSync("rsa-pss", { modulusLength: 2048 }).publicKey);
const P256 = generateKeyPairSync("ec", { namedCurve: "P-256" });
const P384 = pem(generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey);
const ED25519 = pem(generateKeyPairSync("ed25519").publicKey);
const ED448 = pem(generateKeyPairSync("ed448").publicKey);

describe("keys in PEM", () => {
  it.each([
    ["RS256", RSA],
    ["PS256", RSA],
    ["ES256", pem(P256.publicKey)],
    ["EdDSA", ED25519],
  ] as [JwtAlgorithm, string][])("several PEM keys in one text are accepted for %s", (algorithm, text) => {
    expect(pemKeys(`a comment\n${text}\n${text}`, algorithm)).toHaveLength(2);
  });

  it.each([
    ["RS256", ED25519, "block 1: got ed25519, expected an RSA key of at least 2048 bits"],
    ["RS256", SHORT, "block 1: got rsa 1024 bits, expected an RSA key of at least 2048 bits"],
    ["PS256", PSS, "block 1: got rsa-pss 2048 bits, expected an RSA key of at least 2048 bits"],
    ["ES256", RSA, "block 1: got rsa 2048 bits, expected an EC key on P-256 for ES256"],
    ["ES256", P384, "block 1: got ec secp384r1, expected an EC key on P-256"],
    ["EdDSA", ED448, "block 1: got ed448, expected an Ed25519 key"],
    ["EdDSA", `${ED25519}${RSA}`, "block 2: got rsa 2048 bits, expected an Ed25519 key"],
  ] as [JwtAlgorithm, string, string][])("a PEM key that does not fit %s is refused", (algorithm, text, problem) => {
    expect(() => pemKeys(text, algorithm)).toThrow(problem);
  });

  it("a PEM key that does not fit is reported with the setting that chose the algorithm", () => {
    expect(() => pemKeys(RSA, "ES256", "`mode: 1`")).toThrow("expected an EC key on P-256 for `mode: 1`");
  });

  it.each([
    ["no block", "no key", "holds no PEM block"],
    ["a block without its end", RSA + ED25519.slice(0, -30), "a PEM block that is not complete"],
    ["a block without its beginning", RSA + ED25519.slice(30), "a PEM block that is not complete"],
    ["an end of another name", RSA.replace("END PUBLIC", "END RSA PUBLIC"), "that is not complete"],
    [
      "bytes that are no key",
      "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
      "block 1 (PUBLIC KEY) cannot be read",
    ],
    ["a private key", P256.privateKey.export({ type: "pkcs8", format: "pem" }).toString(), "holds a private key"],
    [
      "an encrypted private key",
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----",
      "holds a private key",
    ],
  ])("a faulty PEM key is reported and not skipped: %s", (_title, text, problem) => {
    expect(() => pemKeys(text, "RS256")).toThrow(problem);
  });
});
