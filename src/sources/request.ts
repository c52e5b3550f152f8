/** Each header's values apart, names in lower case: `headersDistinct` of `node:http`. */
export type DistinctHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** Headers that are made here, one value each, as they would arrive. */
export function distinctHeaders(headers: Readonly<Record<string, string>>): DistinctHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]));
}

/** The values of a path's parameters by their names: `{ shop: "acme" }` of `/hooks/:shop`. */
export type PathParameters = Readonly<Record<string, string>>;

/** The memory that a body takes until it is verified. */
export interface HeldBody {
  /** The remote address that it came from, as limits count it; undefined counts as one address. */
  readonly address?: string | undefined;
  /** Whether it may stay while another server is asked; false where such bodies hold their share of the bound. */
  mayWait(): boolean;
}

/** The input of a scheme: the bytes exactly as they arrived, never a decoded string. */
export interface SignedRequest {
  readonly method: string;
  /** Path and query as they were sent, such as `/api/billing/callback?a=1`. */
  readonly target: string;
  /** Of a source whose path has parameters. */
  readonly params?: PathParameters | undefined;
  readonly headers: DistinctHeaders;
  readonly body: Uint8Array;
  readonly bodyReservation?: HeldBody | undefined;
  /** As the log has it. */
  readonly remoteAddress?: string | undefined;
  /** Names this delivery, for keys that are of one delivery only; random where left out. */
  readonly deliveryId?: string;
  /** When it came, of a request that was kept; now where left out. */
  readonly receivedAt?: Date;
}

/**
 * The signed content as a text. It is made for events only whose key it is.
 * @param body in the place of the body, such as its hash
 * @param hasTime whether the timestamp is a part of it
 */
export type SignedText = (body: string, hasTime: boolean) => string;
