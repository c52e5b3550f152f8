import { X509Certificate } from "node:crypto";
import { rootCertificates } from "node:tls";
import { beforeAll, describe, expect, it } from "vitest";
import { readCertificates, verifyChain } from "../../../src/sources/schemes/x5c-chain.ts";
import { type Issued, type IssueOptions, issueCertificate } from "../../support/certificate-chain.ts";

const NOW = new Date("2026-03-04T12:00:00Z");
const LEAF_MARK = "1.2.840.113635.100.6.11.1";
const ISSUER_MARK = "1.2.840.113635.100.6.2.1";

const ec = (options: IssueOptions) => issueCertificate({ type: "ec", ...options });
const parsed = (...issued: readonly Issued[]) => issued.map(({ pem }) => new X509Certificate(pem));

describe("a chain of certificates", () => {
  let root: Issued;
  let middle: Issued;
  let leaf: Issued;
  let stranger: Issued;
  let trust: { readonly roots: readonly X509Certificate[] };

  beforeAll(async () => {
    root = await ec({ subject: "root", isAuthority: true });
    stranger = await ec({ subject: "root", isAuthority: true });
    middle = await ec({ subject: "middle", issuer: root, isAuthority: true, marks: [ISSUER_MARK] });
    leaf = await ec({ subject: "leaf", issuer: middle, marks: [LEAF_MARK] });
    trust = { roots: parsed(root) };
  });

  const verdict = (chain: readonly Issued[], over: object = {}, now = NOW) =>
    verifyChain(parsed(...chain), { ...trust, ...over }, now);

  it("a chain of certificates to a configured root gives the key of the first", () => {
    const [first] = parsed(leaf);
    for (const chain of [
      [leaf, middle],
      [leaf, middle, root],
    ]) {
      const trusted = verdict(chain);
      expect(trusted).toMatchObject({ root: 0 });
      expect(typeof trusted === "object" && first && trusted.key.equals(first.publicKey)).toBe(true);
    }
  });

  it("a chain of certificates says which of several roots it leads to", () => {
    expect(verdict([leaf, middle], { roots: parsed(stranger, root) })).toMatchObject({ root: 1 });
  });

  it("a chain of certificates may not leave out an intermediate", () => {
    expect(verdict([leaf])).toBe("certificate 1 is not issued by a trusted root");
  });

  it("a chain of certificates to a root of the same name with another key is refused", () => {
    expect(verdict([leaf, middle, root], { roots: parsed(stranger) })).toMatch(/not issued by a trusted root/);
  });

  it("a chain of certificates whose links were exchanged is refused", async () => {
    const other = await ec({ subject: "middle", issuer: stranger, isAuthority: true });
    expect(verdict([leaf, other])).toBe("certificate 2 did not issue certificate 1");
    expect(verdict([leaf, root, middle])).toBe("certificate 2 did not issue certificate 1");
  });

  it("a certificate that is no authority issues none that is believed", async () => {
    const forged = await ec({ subject: "forged", issuer: leaf });
    expect(verdict([forged, leaf, middle])).toBe("certificate 2 did not issue certificate 1");
  });

  it("a certificate outside its validity is refused in each place, with its date", async () => {
    const past = new Date("2025-01-01T00:00:00Z");
    const expired = await ec({ subject: "expired", issuer: middle, notAfter: past });
    expect(verdict([expired, middle])).toBe("certificate 1 expired at 2025-01-01T00:00:00.000Z");
    const oldMiddle = await ec({ subject: "old", issuer: root, isAuthority: true, notAfter: past });
    const below = await ec({ subject: "below", issuer: oldMiddle });
    expect(verdict([below, oldMiddle])).toBe("certificate 2 expired at 2025-01-01T00:00:00.000Z");
    const early = new Date("2019-06-01");
    expect(verdict([leaf, middle], {}, early)).toMatch("certificate 1 is valid only from 2020-01-01");
    const oldRoot = await ec({ subject: "past", isAuthority: true, notAfter: past });
    const child = await ec({ subject: "child", issuer: oldRoot });
    expect(verdict([child], { roots: parsed(oldRoot) })).toMatch(/not issued by a trusted root/);
  });

  it("a certificate that is signed over SHA-1 is refused", async () => {
    const weak = await issueCertificate({ subject: "authority", isAuthority: true, hash: "SHA-1" });
    const child = await issueCertificate({ subject: "child", issuer: weak, hash: "SHA-1" });
    expect(verdict([child], { roots: parsed(weak) })).toMatch(/not issued by a trusted root/);
  });

  it("a chain of certificates must have the extensions that a platform names, in their places", async () => {
    const marks = { leafExtensions: [LEAF_MARK], issuerExtensions: [ISSUER_MARK] };
    expect(verdict([leaf, middle, root], marks)).toMatchObject({ root: 0 });
    const plain = await ec({ subject: "plain", issuer: middle });
    expect(verdict([plain, middle], marks)).toBe(`certificate 1 lacks the extension ${LEAF_MARK}`);
    const plainMiddle = await ec({ subject: "other", issuer: root, isAuthority: true });
    const below = await ec({ subject: "below", issuer: plainMiddle, marks: [LEAF_MARK] });
    expect(verdict([below, plainMiddle], marks)).toBe(`certificate 2 lacks the extension ${ISSUER_MARK}`);
  });

  it("an extension of a certificate that is not in the path proves nothing", async () => {
    const marks = { leafExtensions: [LEAF_MARK], issuerExtensions: [ISSUER_MARK] };
    const direct = await ec({ subject: "direct", issuer: root, marks: [LEAF_MARK] });
    expect(verdict([direct, middle, root], marks)).toBe(`certificate 2 lacks the extension ${ISSUER_MARK}`);
  });

  it("a chain of certificates is bounded in length", () => {
    expect(verdict([leaf, middle, root, root, root, root])).toBe("more than 5 certificates");
    expect(verdict([])).toBe("no certificate");
  });

  it("a chain of certificates may lead to the roots of the system, and to no other then", () => {
    const [pem = ""] = rootCertificates;
    const known = new X509Certificate(pem);
    const trusted = { roots: "system" } as const;
    expect(verifyChain([known], trusted, new Date(known.validFromDate.getTime() + 1_000))).toHaveProperty("key");
    expect(verdict([leaf, middle, root], trusted)).toMatch(/not issued by a trusted root/);
  });

  it("a text of certificates holds 1 to 5 of them", () => {
    expect(readCertificates(leaf.pem + middle.pem)).toHaveLength(2);
    expect(() => readCertificates("<html>")).toThrow("holds no certificate in PEM");
    expect(() => readCertificates(`${leaf.pem}\n`.repeat(6))).toThrow("holds more than 5 certificates");
  });
});
