import type { SourceDefinition } from "../src/sources/index.ts";

/** A request as a platform sends it. */
export interface ProofRequest {
  /** Default POST. */
  readonly method?: "POST" | "GET" | "HEAD";
  /** What stands behind the registered address, such as `?bodySHA256=…`. */
  readonly query?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** What a platform is asked to sign. */
export interface ProofEvent {
  /** The secret as the platform shows it. */
  readonly secret: string;
  /** Unique; it must become the event's id, or a part of it. */
  readonly id: string;
  readonly now: Date;
  /** The address that was registered, such as `https://callbacks.example/api/twilio/callback`. */
  readonly url: string;
}

export interface ProofHandshake {
  readonly title: string;
  readonly request: (event: ProofEvent) => ProofRequest | Promise<ProofRequest>;
  readonly response: {
    readonly status: number;
    readonly body?: string;
    readonly headers?: Record<string, string>;
  };
}

/**
 * How a preset is proven: the platform's own SDK signs what the preset must accept, or judges what the preset's `sign`
 * has made, or a published vector stands in `vector`.
 */
export interface PlatformProof {
  /** The preset's name. */
  readonly preset: string;
  /** What proves it, such as `stripe 23.1.0, webhooks.generateTestHeaderString`. */
  readonly by: string;
  /** Three secrets of the shape that the platform gives out. */
  readonly secrets: readonly [string, string, string];
  readonly source: (secrets: readonly string[]) => SourceDefinition | Promise<SourceDefinition>;
  /** A right callback with one event, of a type that the platform documents. */
  readonly callback: (event: ProofEvent) => ProofRequest | Promise<ProofRequest>;
  /** The same signature over other bytes; left out where the preset's own `sign` makes it. */
  readonly signed?: (body: Uint8Array, event: ProofEvent) => ProofRequest | Promise<ProofRequest>;
  /** Starts the platform's key server before all tests. @returns what stops it */
  readonly start?: () => Promise<() => Promise<void>>;
  /** Whether the platform's SDK takes a request for its own; where the SDK cannot sign. */
  readonly accepts?: (request: ProofRequest, event: ProofEvent) => boolean | Promise<boolean>;
  /** A request of the platform's documentation, with its secret; verified at its own time. */
  readonly vector?: () => {
    readonly secret: string;
    readonly now: Date;
    readonly request: ProofRequest;
    readonly url?: string;
  };
  /** Older callbacks are refused; null where the platform signs no time, or does not renew it for a retry. */
  readonly toleranceSeconds: number | null;
  /** The callback without its signature, where that does not stand in a header or in the query (Alipay's form). */
  readonly withoutSignature?: (request: ProofRequest) => ProofRequest;
  /** False where a bit of the body may change without the platform's signature noticing (Adyen's items, Mailgun). */
  readonly signsBody?: false;
  /** The signature stands in the body, and in no header. */
  readonly isSignedInBody?: true;
  /** False where the keys are the platform's own, so that no secret of ours is rotated. */
  readonly rotates?: false;
  /** The platform sends its secret in the first handshake, to a source that has none. */
  readonly learns?: true;
  readonly handshakes?: readonly ProofHandshake[];
}
