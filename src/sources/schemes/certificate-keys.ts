import type { KeyObject, X509Certificate } from "node:crypto";
import type { Clock } from "../../domain/index.ts";
import type { HeldBody } from "../request.ts";
import { FetchedKeys, type FetchedOptions } from "./fetched-keys.ts";
import { type AddressPin, isPinned, requestKeys } from "./key-request.ts";
import { expectedKey, keyMismatch } from "./public-keys.ts";
import { type ChainTrust, readCertificates, validityFault, verifyChain } from "./x5c-chain.ts";

export interface CertificateOptions extends FetchedOptions {
  readonly pin: AddressPin;
  /** The hosts of which the certificate must name one, by the URL that it came from. */
  readonly hosts?: (url: URL) => readonly string[];
  /** The roots of the chain; without them, the TLS connection to the pinned host answers for the certificate. */
  readonly trust?: ChainTrust;
  readonly clock: Clock;
}

/** The statuses of files that do not exist; S3 says 403 where it shows no list. */
const ABSENT = [400, 403, 404, 410];

/** Certificates by URL, as SNS and PayPal publish them. Only a URL that the pin allows is ever asked. */
export function certificateKeys(options: CertificateOptions) {
  const { pin, hosts, trust, clock } = options;
  const fetched = new FetchedKeys(async (url) => {
    const pem = await requestKeys(url, { absent: ABSENT });
    return pem === undefined ? undefined : readCertificates(pem);
  }, options);

  function faultOf(certificate: X509Certificate, url: string): string | undefined {
    const names = hosts?.(new URL(url)) ?? [];
    if (hosts !== undefined && !names.some((name) => certificate.checkHost(name) !== undefined))
      return `is for another host, expected ${names.join(" or ")}`;
    const got = keyMismatch(certificate.publicKey, "rsa");
    if (got !== undefined) return `holds the key ${got}, expected ${expectedKey("rsa")}`;
    return validityFault(certificate, clock.now());
  }

  return {
    /**
     * The RSA key of the certificate at a URL that a sender named.
     * @returns a text for an operator where it can have signed nothing
     * @throws KeysUnavailable
     */
    async keyAt(url: string, body?: HeldBody): Promise<KeyObject | string> {
      if (!isPinned(url, pin)) return "its address is not one of the platform's";
      const certificates = await fetched.get(url, body);
      const [leaf] = certificates ?? [];
      if (certificates === undefined || leaf === undefined) return "there is no certificate at its address";
      const fault = faultOf(leaf, url);
      if (fault !== undefined) return `its certificate ${fault}`;
      const result = trust === undefined ? { key: leaf.publicKey } : verifyChain(certificates, trust, clock.now());
      return typeof result === "string" ? `its chain: ${result}` : result.key;
    },
  };
}
