import { type KeyObject, X509Certificate } from "node:crypto";
import { getCACertificates } from "node:tls";

/** The trust of a chain of certificates: its roots and its extensions. */
export interface ChainTrust {
  /** The current one first; `system` are those that Node brings. */
  readonly roots: readonly X509Certificate[] | "system";
  /** Dotted object identifiers of extensions that the first certificate must have. */
  readonly leafExtensions?: readonly string[];
  /** The same of the one that issued it. */
  readonly issuerExtensions?: readonly string[];
}

const MAX_CERTIFICATES = 5;
const WEAK = /sha1|md5|md2/i;

/**
 * Follows certificates from the first, which made a signature, to a trusted root (RFC 5280 §6.1: names, signatures,
 * validity, CA). It knows no revocation and no name constraints. So the roots must be a platform's own, or the names be
 * checked too.
 * @returns the first one's key and the index of the root, or what is wrong in words for an operator
 */
export function verifyChain(
  path: readonly X509Certificate[],
  trust: ChainTrust,
  now: Date,
): { readonly key: KeyObject; readonly root: number } | string {
  const [leaf] = path;
  if (leaf === undefined) return "no certificate";
  if (path.length > MAX_CERTIFICATES) return `more than ${MAX_CERTIFICATES} certificates`;
  for (const [place, certificate] of path.entries()) {
    const fault = validityFault(certificate, now);
    if (fault !== undefined) return `certificate ${place + 1} ${fault}`;
    const root = rootOf(certificate, trust, now);
    // The rest of the list was not followed, so it proves nothing.
    if (root !== undefined) return extensionFault(path.slice(0, place + 1), trust) ?? { key: leaf.publicKey, root };
    const issuer = path[place + 1];
    if (issuer !== undefined && !hasIssued(issuer, certificate))
      return `certificate ${place + 2} did not issue certificate ${place + 1}`;
  }
  return `certificate ${path.length} is not issued by a trusted root`;
}

/** In words that follow its name. */
export function validityFault(certificate: X509Certificate, now: Date): string | undefined {
  const { validFromDate: from, validToDate: to } = certificate;
  if (now < from) return `is valid only from ${from.toISOString()}`;
  return now > to ? `expired at ${to.toISOString()}` : undefined;
}

/** @returns the index of the root that this certificate is, or that issued it */
function rootOf(certificate: X509Certificate, { roots }: ChainTrust, now: Date): number | undefined {
  const trustedRoots = roots === "system" ? systemRoots(certificate) : roots;
  const place = trustedRoots.findIndex(
    (root) =>
      validityFault(root, now) === undefined &&
      (root.fingerprint512 === certificate.fingerprint512 || hasIssued(root, certificate)),
  );
  return place === -1 ? undefined : place;
}

/** Whether its name and its signature say so, and it may issue certificates at all. */
function hasIssued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  if (!issuer.ca || WEAK.test(certificate.signatureAlgorithm ?? "")) return false;
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

let systemRootsBySubject: Map<string, X509Certificate[]> | undefined;

function systemRoots({ issuer, subject }: X509Certificate): readonly X509Certificate[] {
  systemRootsBySubject ??= Map.groupBy(
    getCACertificates("bundled").map((pem) => new X509Certificate(pem)),
    (root) => root.subject,
  );
  return [issuer, subject].flatMap((name) => systemRootsBySubject?.get(name) ?? []);
}

function extensionFault(
  [leaf, issuer]: readonly X509Certificate[],
  { leafExtensions = [], issuerExtensions = [] }: ChainTrust,
): string | undefined {
  const wanted = [
    ...leafExtensions.map((id) => [leaf, id] as const),
    ...issuerExtensions.map((id) => [issuer, id] as const),
  ];
  for (const [certificate, id] of wanted) {
    const extensions = certificate === undefined ? [] : extensionIds(certificate.raw);
    if (!extensions.includes(encodeId(id)))
      return `certificate ${certificate === leaf ? 1 : 2} lacks the extension ${id}`;
  }
  return undefined;
}

const SEQUENCE = 0x30;
const OBJECT_ID = 0x06;
/** RFC 5280 §4.1: `[3] EXPLICIT Extensions` of a TBSCertificate. */
const EXTENSIONS = 0xa3;

/** The object identifiers of a certificate's extensions, each as hex of its DER content; none of what is no certificate. */
function extensionIds(der: Buffer): string[] {
  const [certificate] = elements(der);
  const [tbs] = elements(certificate?.content);
  const wrapped = elements(tbs?.content).find(({ tag }) => tag === EXTENSIONS);
  const [list] = elements(wrapped?.content);
  return elements(list?.content)
    .filter(({ tag }) => tag === SEQUENCE)
    .flatMap(({ content }) => elements(content).slice(0, 1))
    .filter(({ tag }) => tag === OBJECT_ID)
    .map(({ content }) => content.toString("hex"));
}

/** DER (X.690 §8.1) of what OpenSSL has read already; what does not fit in ends the list. */
function elements(der: Buffer = Buffer.of()) {
  const elements: { readonly tag: number; readonly content: Buffer }[] = [];
  let position = 0;
  while (position + 2 <= der.length) {
    const tag = der.readUInt8(position);
    let length = der.readUInt8(position + 1);
    position += 2;
    if (length > 0x80 && length <= 0x84 && position + (length & 0x7f) <= der.length) {
      const size = length & 0x7f;
      length = der.readUIntBE(position, size);
      position += size;
    } else if (length >= 0x80) return elements;
    if (position + length > der.length) return elements;
    elements.push({ tag, content: der.subarray(position, position + length) });
    position += length;
  }
  return elements;
}

/** X.690 §8.19: the first two numbers in one, each in groups of seven bits. */
function encodeId(dotted: string): string {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((number) => {
    const groups = [number % 128];
    for (let left = Math.floor(number / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift(128 + (left % 128));
    return groups;
  });
  return Buffer.from(bytes).toString("hex");
}

const CERTIFICATE_BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** The certificates of a PEM text, in their order. @throws Error when there is none, or one cannot be read */
export function readCertificates(pem: string): X509Certificate[] {
  const blocks = pem.match(CERTIFICATE_BLOCK) ?? [];
  if (blocks.length === 0) throw new Error("holds no certificate in PEM");
  if (blocks.length > MAX_CERTIFICATES) throw new Error(`holds more than ${MAX_CERTIFICATES} certificates`);
  return blocks.map((block) => new X509Certificate(block));
}
