import { KeyObject, webcrypto } from "node:crypto";
import {
  BasicConstraintsExtension,
  cryptoProvider,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";

cryptoProvider.set(webcrypto);

type Pair = webcrypto.CryptoKeyPair;

/** A certificate with its keys, which can issue others. */
export interface Issued {
  readonly subject: string;
  readonly pem: string;
  /** DER in base64, as `x5c` has it. */
  readonly x5c: string;
  readonly keys: Pair;
  readonly privateKey: KeyObject;
}

export interface IssueOptions {
  readonly subject: string;
  /** Without one it is self-signed. */
  readonly issuer?: Issued;
  readonly isAuthority?: boolean;
  readonly type?: "rsa" | "ec";
  readonly bits?: number;
  readonly hash?: "SHA-1" | "SHA-256";
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  readonly dnsNames?: readonly string[];
  /** Object identifiers of extensions that say nothing but that they are there. */
  readonly marks?: readonly string[];
}

let serial = 1;

export async function issueCertificate(options: IssueOptions): Promise<Issued> {
  const { subject, issuer, isAuthority = false, type = "rsa", bits = 2_048, hash = "SHA-256" } = options;
  const { notBefore = new Date("2020-01-01"), notAfter = new Date("2040-01-01") } = options;
  const algorithm =
    type === "rsa"
      ? {
          name: "RSASSA-PKCS1-v1_5",
          hash,
          publicExponent: new Uint8Array([1, 0, 1]),
          modulusLength: bits,
        }
      : { name: "ECDSA", namedCurve: "P-256", hash };
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as Pair;
  const signer = issuer?.keys ?? keys;
  const certificate = await X509CertificateGenerator.create({
    serialNumber: (serial++).toString(16).padStart(4, "0"),
    subject: `CN=${subject}`,
    issuer: `CN=${issuer?.subject ?? subject}`,
    ...{ notBefore, notAfter, publicKey: keys.publicKey, signingKey: signer.privateKey },
    signingAlgorithm: { name: signer.privateKey.algorithm.name, hash },
    extensions: [
      new BasicConstraintsExtension(isAuthority, undefined, true),
      new KeyUsagesExtension(isAuthority ? KeyUsageFlags.keyCertSign : KeyUsageFlags.digitalSignature, true),
      ...(options.dnsNames === undefined
        ? []
        : [new SubjectAlternativeNameExtension(options.dnsNames.map((value) => ({ type: "dns", value })))]),
      ...(options.marks ?? []).map((id) => new Extension(id, false, new Uint8Array([5, 0]))),
    ],
  });
  return {
    subject,
    pem: certificate.toString("pem"),
    x5c: Buffer.from(certificate.rawData).toString("base64"),
    keys,
    privateKey: KeyObject.from(keys.privateKey as webcrypto.CryptoKey),
  };
}
