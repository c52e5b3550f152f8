import type { SignatureEncoding } from "../formats/encoding.ts";
import type { SignedRequest } from "../request.ts";

/** `plain-…` hashes a text that holds the secret, which is no HMAC: see `signed`. */
export type MacAlgorithm = "sha1" | "sha256" | "sha512" | "plain-sha1" | "plain-sha256";

/**
 * How a secret's text becomes the key; `whsec` is base64 after an optional `whsec_` (Standard Webhooks). A function
 * returns every key that the platform may have used, and none for a text that cannot be one.
 */
export type KeyFormat =
  | "text"
  | "hex"
  | "base64"
  | "base64url"
  | "whsec"
  | ((secret: string) => Uint8Array | readonly Uint8Array[] | undefined);

/** `base64-of-hex` is base64 of the digest's text in hex (Solidgate). */
export type MacEncoding = SignatureEncoding | "base64-of-hex";

/** How the unit of a timestamp is sent: whole seconds or milliseconds since the epoch, or RFC 3339. */
export type TimestampUnit = "seconds" | "milliseconds" | "iso";

/** How a platform signs with a shared secret, as data. */
export interface HmacData {
  /** Default `sha256`. */
  readonly algorithm?: MacAlgorithm;
  /** Default `text`: the UTF-8 bytes. */
  readonly key?: KeyFormat;
  readonly signature: SignaturePlace;
  /**
   * The signed content, a template of constant text and these names. `{body}` is the raw bytes, and `{timestamp}` the
   * text as it was sent. `{header.name}` is a header, and `{header.a|b}` the first that is there. `{url}` is the
   * registered origin and the target. `{decodedUrl}` is the same with escaped separators decoded, as HubSpot signs it.
   * The others are `{method}`, `{path}`, `{target}` (path and query) and `{query.name}` (decoded).
   * A plain hash has `{secret}` too. A reader of one callback can lengthen its body (length extension), so it is for
   * platforms that offer nothing else.
   */
  readonly signed: string;
  /** Placeholders of the platform's own, by the name that stands in braces. */
  readonly parts?: Readonly<Record<string, SignedPart>>;
  readonly timestamp?: TimestampRule;
}

/**
 * The text of a placeholder as latin1, one character a byte. It must not throw.
 * @returns undefined where the request lacks what is signed, or has a malformed one
 */
export type SignedPart = (request: SignedRequest) => string | undefined;

export interface SignaturePlace {
  /** One, or several of which each may hold signatures (Box, DocuSign). */
  readonly header: string | readonly string[];
  readonly encoding: MacEncoding;
  /** The text before each signature, such as `sha256=`. */
  readonly prefix?: string;
  /** A signature without the prefix counts as well (Mollie). */
  readonly isPrefixOptional?: true;
  /** The header may stand several times, or once with commas (RFC 9110 §5.3); each value holds a signature (Mollie). */
  readonly mayRepeat?: true;
  readonly fields?: SignatureFields;
  /** Letters of hex in either case. Default: only lowercase. */
  readonly anyCase?: boolean;
  /** Default: base64 with padding, base64url without. `optional` takes both forms of both. */
  readonly padding?: "optional";
}

/** A header of fields, such as `t=1,v1=aa,v1=bb`. */
export interface SignatureFields {
  readonly separator: string;
  /** Between a field's name and its text. With an empty one no field has a name, and `value` is empty too. */
  readonly assignment: string;
  /** The name of those that hold a signature. */
  readonly value: string;
  /** The name of the one that holds the timestamp. */
  readonly timestamp?: string;
}

export interface TimestampRule {
  /** One, or several of which the first that is there counts (Svix). Left out where it is a field of the signature's header. */
  readonly header?: string | readonly string[];
  readonly unit: TimestampUnit;
  /** How far it may lie from now; null switches the check off. */
  readonly toleranceSeconds: number | null;
  /** `past` bounds only the age, as most platforms' SDKs do. Default `both`. */
  readonly direction?: "both" | "past";
}

/**
 * The scheme of the specification's platform (SPEC 5.2): `X-Signature` over the raw bytes. `X-Timestamp` is not signed:
 * it keeps out stale deliveries, while the record keeps out replays.
 * @param toleranceSeconds how far `X-Timestamp` may lie from now, both ways; null switches the check off
 */
export function platformHmac(toleranceSeconds: number | null): HmacData {
  return {
    signature: { header: "X-Signature", encoding: "hex" },
    signed: "{body}",
    timestamp: { header: "X-Timestamp", unit: "seconds", toleranceSeconds },
  };
}
