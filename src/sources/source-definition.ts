import type { Clock } from "../domain/index.ts";
import type { Contract } from "./contract/contract.ts";
import type { SampleCallback, SampleRequest } from "./contract/sample.ts";
import type { Scheme } from "./schemes/scheme.ts";
import type { HmacRequest } from "./schemes/sign-hmac.ts";

/** What a source is made with, at the start. */
export interface SourceEnvironment {
  readonly name: string;
  readonly clock: Clock;
  /** Protocol and host under which platforms reach this receiver: from `CALLBACK_BASE_URL`, never from `Host`. */
  readonly origin: () => string;
}

/** What is known of a platform, for `doctor`, the page and the docs. */
export interface PlatformFacts {
  /** Such as `Stripe`. */
  readonly title: string;
  /** Its own page on how it signs. */
  readonly docs: string;
  /** What its preset was tested with: its SDK that signs, one that verifies or a published vector, or neither. */
  readonly proof: "signs" | "verifies" | "documented" | "own";
  /** How long it waits for a response. */
  readonly deadlineSeconds?: number;
  /** How long it sends a callback again; 0 where it never does. */
  readonly retryHours?: number;
  /** After which responses it disables or deletes an endpoint. */
  readonly disables?: string;
  /** Whether a retry has a new signed timestamp; left out where that is not documented. */
  readonly renewsTimestamp?: boolean;
  /** Its largest body. */
  readonly maxBodyBytes?: number;
}

/** What a source's address and bounds are, whatever its platform. */
export interface SourceSettings {
  /** Below the base path, such as `/hooks/stripe`; `/api/<source>/callback` and its versions when left out. */
  readonly path?: string;
  /**
   * When a callback gets its response: when its handler has committed (`inline`), as soon as the event is durable
   * (`after`), or when either has happened by then (`{ within: "2s" }`). Default: within two thirds of the time that
   * the platform waits, where that is known; else `inline`.
   */
  readonly answer?: "inline" | "after" | { readonly within: `${number}s` | `${number}ms` };
  /** An event type without a handler: success that is counted (the default), or 400. */
  readonly unhandled?: "ignore" | "refuse";
}

/** A source as a preset describes it, before the start gives it a name. */
export interface SourceDefinition {
  /** The preset's name, such as `stripe`. */
  readonly preset: string;
  readonly facts: PlatformFacts;
  readonly settings: SourceSettings;
  /** The texts that no log may show. */
  readonly secrets: readonly string[];
  /** What proves a callback, such as `the header Stripe-Signature`. */
  readonly credential?: string;
  readonly createScheme: (environment: SourceEnvironment) => Scheme;
  readonly createContract: (environment: SourceEnvironment) => Contract;
  /** The headers with which the platform would sign this request; left out where only the platform can. */
  readonly sign?: (request: Omit<HmacRequest, "secret">) => Record<string, string>;
  /** A made-up callback in the platform's shape, unsigned. @throws TypeError where there is none */
  readonly sample?: (request: SampleRequest) => SampleCallback;
}
