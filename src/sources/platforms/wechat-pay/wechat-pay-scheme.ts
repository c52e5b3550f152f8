import type { Clock } from "../../../domain/index.ts";
import { FetchedKeys, keysUnavailable } from "../../schemes/fetched-keys.ts";
import { createPublicKeyScheme, type IdentifiedKey, type PublicKeyData } from "../../schemes/public-key.ts";
import { malformed, missingCredential, refuse, type Scheme } from "../../schemes/scheme.ts";

export interface WeChatSchemeOptions {
  readonly keys: readonly IdentifiedKey[];
  readonly clock: Clock;
  /** The platform certificate of a serial that no key has; undefined where there is none. */
  readonly fetchCertificate?: (serial: string) => Promise<string | undefined>;
}

const SERIAL_HEADER = "wechatpay-serial";
const SIGNATURE_HEADER = "wechatpay-signature";
/** Of a certificate. The id of a public key is in no list of certificates. */
const CERTIFICATE_SERIAL = /^[0-9A-Fa-f]{8,64}$/;

/**
 * The keys that are configured, and after those the certificates that WeChat Pay hands out. Certificates are published a
 * day before they sign, so a serial is looked for when a callback first names it.
 * @throws TypeError for a key that cannot be read, or where there is nothing to verify with
 */
export function createWeChatScheme(data: PublicKeyData, options: WeChatSchemeOptions): Scheme {
  const { keys, clock, fetchCertificate } = options;
  const configured =
    keys.length === 0 && fetchCertificate !== undefined
      ? undefined
      : createPublicKeyScheme(data, { keys, option: "keys", clock });
  if (fetchCertificate === undefined && configured !== undefined) return configured;
  const configuredIds = new Set(keys.map(({ id }) => id));
  const fetched = new FetchedKeys<Scheme>(
    async (serial) => {
      const key = await fetchCertificate?.(serial);
      return key === undefined ? undefined : createPublicKeyScheme(data, { keys: [{ id: serial, key }], clock });
    },
    { name: "WeChat Pay" },
  );
  return {
    challenge: configured?.challenge ?? 'Signature realm="callbacks", algorithm="rsa-sha256"',
    isCostly: true,
    async verify(request) {
      const [serial = "", ...more] = request.headers[SERIAL_HEADER] ?? [];
      if (request.headers[SIGNATURE_HEADER] === undefined)
        return missingCredential("signature_missing", "`Wechatpay-Signature`: missing");
      if (more.length > 0) return malformed("`Wechatpay-Serial`: expected once");
      if (configured !== undefined && configuredIds.has(serial)) return configured.verify(request);
      const unknown = refuse("signature_mismatch", "`Wechatpay-Serial`: no such key");
      if (!CERTIFICATE_SERIAL.test(serial)) return unknown;
      try {
        const scheme = await fetched.get(serial, request.bodyReservation);
        return (await scheme?.verify(request)) ?? unknown;
      } catch (error) {
        return keysUnavailable(error);
      }
    },
  };
}
