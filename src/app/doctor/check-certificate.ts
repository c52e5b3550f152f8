import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { getCACertificates } from "node:tls";
import type { Config } from "../../config/index.ts";
import { readTlsPair } from "../../http/index.ts";
import { type Finding, failure, ok, warning } from "./finding.ts";

const SOON_DAYS = 21;
const DAY_MS = 86_400_000;

/**
 * The certificate of `TLS_CERT_FILE`: that it can be used, for this host, and for how long; in production also that its
 * chain ends at an authority that platforms know.
 * @param authorities in PEM; left out, those that Node knows, NODE_EXTRA_CA_CERTS among them
 */
export async function checkCertificate(
  { listen, baseUrl, environment }: Config,
  now: Date,
  authorities: () => readonly string[] = () => getCACertificates("default"),
): Promise<Finding[]> {
  const about = "certificate";
  if (listen.tls === undefined) {
    const how =
      listen.trustProxy.length > 0 ? "a trusted proxy ends TLS" : "none: plain HTTP on this machine only";
    return [ok(about, how)];
  }
  let certificate: X509Certificate;
  let chain: readonly X509Certificate[];
  try {
    const { cert } = await readTlsPair(listen.tls);
    certificate = new X509Certificate(cert);
    chain = (cert.toString("latin1").match(ONE_CERTIFICATE) ?? []).map((pem) => new X509Certificate(pem));
  } catch (error) {
    return [failure(about, error instanceof Error ? error.message : String(error))];
  }
  const { hostname } = new URL(baseUrl);
  const findings: Finding[] = [];
  if (!isFor(certificate, hostname)) {
    findings.push(
      failure(
        about,
        `is not for ${hostname}, the host of CALLBACK_BASE_URL, but for ${certificate.subjectAltName}`,
      ),
    );
  }
  const days = Math.floor((certificate.validToDate.getTime() - now.getTime()) / DAY_MS);
  if (days < 0) findings.push(failure(about, `expired on ${certificate.validTo}; renew it`));
  else if (days < SOON_DAYS)
    findings.push(warning(about, `expires in ${days} days, on ${certificate.validTo}; renew it`));
  const doubt = environment === "production" ? doubtOf(chain, authorities()) : undefined;
  if (doubt !== undefined) findings.push(warning(about, doubt));
  return findings.length > 0 ? findings : [ok(about, `is for ${hostname} and expires in ${days} days`)];
}

/** Why platforms would not trust this chain, as far as that can be told without a connection. */
function doubtOf(
  [leaf, ...others]: readonly X509Certificate[],
  authorities: readonly string[],
): string | undefined {
  const roots = authorities.map((pem) => new X509Certificate(pem));
  const left = new Set(others);
  for (let current = leaf; current !== undefined; ) {
    const own = current;
    if (roots.some((root) => root.fingerprint256 === own.fingerprint256 || isIssuer(root, own)))
      return undefined;
    if (isIssuer(own, own)) return own === leaf ? SELF_SIGNED : UNKNOWN_AUTHORITY;
    const next = [...left].find((other) => isIssuer(other, own));
    if (next === undefined) return incomplete(own);
    left.delete(next);
    current = next;
  }
  return undefined;
}

function isIssuer(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

const ONE_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const SELF_SIGNED =
  "is self-signed, and platforms trust none such: get one from a public authority, or end TLS at a proxy that has one";
const UNKNOWN_AUTHORITY =
  "ends at an authority that Node does not know, and so probably no platform does: get one from a public authority. Where " +
  "the platform trusts this authority, name its file in NODE_EXTRA_CA_CERTS";
const incomplete = ({ issuer }: X509Certificate) =>
  `has no complete chain: TLS_CERT_FILE lacks the certificate of its issuer (${issuer.split("\n").join(", ")}), which Node does ` +
  "not know either. Append the authority's intermediate certificates to the file, which many call fullchain.pem";

function isFor(certificate: X509Certificate, hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  return (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;
}
