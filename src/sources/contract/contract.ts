import type { JsonObject, Refused, ResponseOutcome } from "../../domain/index.ts";
import type { SignedRequest, SignedText } from "../request.ts";
import type { EventIdentity } from "./identity.ts";

/** A whole response to a platform. */
export interface PlatformResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An event of a verified callback: the envelope of SPEC 2.1, the one form that every later step knows. */
export interface EventContent {
  readonly eventId: string;
  /** Called only for an event that has no record: a duplicate is one whatever its type (SPEC 4.1). */
  readonly typeOf: () => string | Refused;
  /** `event_id`, `event_type`, `timestamp` in seconds, `data`, and `headers` where the contract names some. */
  readonly json: JsonObject;
  /** The envelope as JSON text, or the platform's own bytes where they are that envelope. Made when it is asked for. */
  readonly body: Uint8Array;
  /** SHA-256 in lowercase hex of the body, or of one item's text in a batch. It is the key where that is a hash. */
  readonly bodySha256: string;
  /** Whether the callback's body is one JSON text. */
  readonly isJson?: boolean;
}

/**
 * The response to a handshake. A promise where a secret is learnt or an address is visited first. It rejects where that
 * fails for a while, so that the platform asks again.
 */
export type HandshakeResponse = PlatformResponse | Refused | Promise<PlatformResponse | Refused>;

/** A verified callback, read. */
export type ReadCallback =
  | { readonly kind: "event"; readonly event: EventContent }
  /** Several events in one callback, each with a record of its own; none stands twice. */
  | {
      readonly kind: "batch";
      readonly events: readonly EventContent[];
      /** Why the first of those items that are no event is none. */
      readonly invalid?: Refused | undefined;
    }
  /** No event: the platform asks whether this address is ours, or whether it is alive. */
  | { readonly kind: "handshake"; readonly respond: () => HandshakeResponse };

/** How a source's callbacks are read and responded to, once its scheme has verified them. */
export interface Contract {
  /** POST, and where the platform asks with them, GET and HEAD. */
  readonly methods: readonly string[];
  /** An event type without a handler: 400, or success that is counted and listed. */
  readonly unhandled: "refuse" | "ignore";
  /** The response to a rejected event, which is kept: that of an accepted one, or 400. */
  readonly invalid: "accept" | "refuse";
  /** The headers that events are read from, in lower case: a callback that cannot be read is kept with them. */
  readonly headers: readonly string[];
  /** The key of an event. */
  readonly identity: EventIdentity;
  /** Whether some keys are new at each delivery: an event that is sent again is another one then. */
  readonly keysChangeWithDelivery?: boolean;
  /** Whether the envelope's timestamp is the event's own, under the signature. */
  readonly hasSignedTime: boolean;
  /** The platform sends `Content-Encoding: gzip`; the compressed bytes are what is verified. */
  readonly takesGzip?: true;
  /**
   * Whether an event is wanted, by the filters of its source; undefined where it has none.
   * @throws what the configured `filter` throws
   */
  readonly isWanted?: (event: Pick<EventContent, "json">, eventType: string) => boolean;
  /**
   * Called before the signature is verified: a challenge that is unsigned by the platform's design. It changes nothing,
   * but for a secret that the environment's `learn` accepts.
   * @returns undefined for a request that has to be verified
   */
  readonly challenge?: (request: SignedRequest) => HandshakeResponse | undefined;
  /**
   * Reads a verified request. It throws nothing.
   * @param signedText where more than the body was signed
   */
  readonly read: (request: SignedRequest, signedText?: SignedText) => ReadCallback | Refused;
  /**
   * Names a request that `read` refuses, in lowercase hex. The name comes from its identity where that can be read, and
   * otherwise from what was signed.
   */
  readonly identify: (request: SignedRequest, signedText?: SignedText) => string;
  /**
   * The response that the platform wants for an outcome; undefined where the common one will do. Its headers are added
   * to those of the common one.
   */
  readonly respond?: (outcome: ResponseOutcome) => PlatformResponse | undefined;
}
