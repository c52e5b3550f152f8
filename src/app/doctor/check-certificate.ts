import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { Config } from "../../config/index.ts";
import { readTlsPair } from "../../http/index.ts";
import { type Finding, failure, ok, warning } from "./finding.ts";

const SOON_DAYS = 21;
const DAY_MS = 86_400_000;

/** The certificate of `TLS_CERT_FILE`: that it can be used, for this host, and for how long. */
export async function checkCertificate({ listen, baseUrl }: Config, now: Date): Promise<Finding[]> {
  const about = "certificate";
  if (listen.tls === undefined) {
    const how =
      listen.trustProxy.length > 0 ? "a trusted proxy ends TLS" : "none: plain HTTP on this machine only";
    return [ok(about, how)];
  }
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate((await readTlsPair(listen.tls)).cert);
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
  return findings.length > 0 ? findings : [ok(about, `is for ${hostname} and expires in ${days} days`)];
}

function isFor(certificate: X509Certificate, hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  return (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;
}
