import type { CallbackEvent, Clock, RetryOptions } from "../domain/index.ts";
import type { Contract } from "./contract/contract.ts";
import type { ContractEnvironment } from "./contract/event-contract.ts";
import type { EventIdentity, Identity } from "./contract/identity.ts";
import type { SampleCallback, SampleRequest } from "./contract/sample.ts";
import type { Reconciliation } from "./reconcile/reconciliation.ts";
import type { HmacData } from "./schemes/hmac-data.ts";
import type { SecretLookup } from "./schemes/learnt-secrets.ts";
import type { CredentialPlaces, Scheme } from "./schemes/scheme.ts";
import type { HmacRequest } from "./schemes/sign-hmac.ts";
import type { TenantEnvironment } from "./schemes/tenant-scheme.ts";

/** The environment of a source, from the start. */
export interface SourceEnvironment extends TenantEnvironment {
  readonly clock: Clock;
  /** Protocol and host under which platforms reach this receiver: from `CALLBACK_BASE_URL`, never from `Host`. */
  readonly origin: () => string;
  /** Secrets that the platform chose itself; left out for a source whose platform chooses none. */
  readonly learning?: SecretLookup & Required<Pick<ContractEnvironment, "learn">>;
  /** Requests an address that the contract has pinned, without following a redirect. */
  readonly visit?: NonNullable<ContractEnvironment["visit"]>;
}

/** The facts about a platform, for `doctor`, the page and the docs. */
export interface PlatformFacts {
  /** Such as `Stripe`. */
  readonly title: string;
  /** Its own page on how it signs. */
  readonly docs: string;
  /**
   * The proof of its preset. `signs`: its SDK signs. `verifies`: its SDK verifies, or it publishes a vector.
   * `community`: a library or a vector of others. `own`: a source of the configuration, never a preset. Default: only
   * its documentation.
   */
  readonly proof?: "signs" | "verifies" | "community" | "own";
  /**
   * The key of its events where no id is signed (the default of `IdentityData` when left out). Why: what it documents,
   * as a phrase. Its page: `docs` when left out.
   */
  readonly identity?: { readonly key?: Identity; readonly why: string; readonly source?: string };
  /** How long it waits for a response. */
  readonly deadlineSeconds?: number;
  /** How long it sends a callback again; 0 where it never does. */
  readonly retryHours?: number;
  /** After which responses it disables or deletes an endpoint. */
  readonly disables?: string;
  /** Whether a retry has a new signed timestamp; left out where that is not documented. */
  readonly renewsTimestamp?: boolean;
  /** The parts of a callback that its signature leaves out, one phrase. */
  readonly unsigned?: string;
  /** Its largest body; one chosen here where it documents none and its bodies are long. */
  readonly maxBodyBytes?: number;
}

/** The options that every source has, whatever its platform. */
export interface SourceSettings {
  /**
   * Below the base path, such as `/hooks/stripe`; `/api/<source>/callback` and its versions when left out. A part such
   * as `:shop` is a parameter. Each of its values is a tenant, whose events have records of their own. It needs a
   * secret for each tenant, or a signature that covers the path.
   */
  readonly path?: string;
  /**
   * The address that is registered at the platform, where a proxy maps its path to `path`: Twilio, Square and others sign
   * it. Protocol, host and path, without a query; that of a request is taken as it arrives.
   */
  readonly url?: string;
  /**
   * When a callback gets its response. `inline`: when its handler has committed; `after`: as soon as the event is
   * durable; `{ within: "2s" }`: when either has happened by then. Default: within two thirds of the time that the
   * platform waits, where that is known; else `inline`.
   */
  readonly answer?: "inline" | "after" | { readonly within: `${number}s` | `${number}ms` };
  /**
   * The key of each event, where the platform does not sign its id: `id` runs equal callbacks under two ids as two
   * events. `bytes` runs what was signed once, and `delivery` runs each delivery. Default: what the platform documents
   * of retries.
   */
  readonly identity?: Identity;
  /** An event type without a handler: success that is counted (the default), or 400. */
  readonly unhandled?: "ignore" | "refuse";
  /**
   * How long an event is tried again that was accepted or has failed here. Default: as long as the platform itself tries,
   * and at least `{ for: "72h", first: "30s", factor: 2, max: "1h" }`. Chance prolongs each delay by up to a fifth.
   */
  readonly retry?: RetryOptions;
  /**
   * The response to an authentic event that schema, handler or contract reject, and that is kept for a replay. It is
   * that of an accepted event (the default), or 400.
   */
  readonly invalid?: "accept" | "refuse";
  /** The longest body, in the place of `MAX_BODY_BYTES`; the platform's own largest one when left out. */
  readonly maxBodyBytes?: number;
  /**
   * For each remote address, such as `600/minute`, or `off`: the only rate limit of this source's addresses. Default:
   * `6000/minute`.
   */
  readonly rate?: string;
  /** The platform's addresses or CIDR networks, in the place of `IP_ALLOW_LIST`. */
  readonly addresses?: readonly string[];
  /**
   * How long the headers and the body of its events are kept as they came, such as `90d`; `0` keeps none. Default:
   * `KEEP_ORIGINALS`.
   */
  readonly keep?: string;
  /** The types that are wanted, such as `["invoice.*", "charge.refunded"]`; all others are ignored. */
  readonly only?: readonly string[];
  /** The types that are not wanted, also where `only` names them. */
  readonly ignore?: readonly string[];
  /**
   * Whether an event is wanted; asked after the types, and before any handler. It must be quick, change nothing and
   * return a boolean. An exception returns 500, so that the platform sends the event again.
   */
  readonly filter?: EventFilter;
}

/** @param event the envelope as handlers get it, `data` before any schema */
export type EventFilter = (event: CallbackEvent) => boolean;

/** A source as a preset describes it, before the start gives it a name. */
export interface SourceDefinition {
  /** The preset's name, such as `stripe`. */
  readonly preset: string;
  readonly facts: PlatformFacts;
  readonly settings: SourceSettings;
  /** The texts that no log may show. Those that verify come first, in the order in which the scheme counts them. */
  readonly secrets: readonly string[];
  /** Each tenant of its path has secrets of its own, which a function gives. */
  readonly hasTenantSecrets?: true;
  readonly identity: EventIdentity;
  /** Each event has its own time in the signed bytes, so that `RECORD_RETENTION_DAYS` deletes its record. */
  readonly hasSignedTime: boolean;
  /** How it signs, where that is an HMAC: a refused callback is explained by it. */
  readonly hmac?: HmacData;
  /** The platform chooses a secret itself, and sends it in a handshake. */
  readonly learns?: true;
  /** The registered address is signed, or proved in a handshake. False where the settings have it as `url`. */
  readonly signsAddress?: boolean | undefined;
  /** The proof of a callback, such as `the header Stripe-Signature`. */
  readonly credential: string;
  /** The names at which a credential stands, of callbacks and of handshakes: logs mask them. */
  readonly credentialPlaces: CredentialPlaces;
  /** Fields of the body that hold JSON in base64: logs mask it inside. */
  readonly base64Fields?: readonly string[];
  /** A gap that its settings leave open, a sentence for the start and `doctor`; left out for none. */
  readonly open?: string;
  readonly createScheme: (environment: SourceEnvironment) => Scheme;
  readonly createContract: (environment: SourceEnvironment) => Contract;
  /** The headers with which the platform would sign this request; left out where they cannot be made here. */
  readonly sign?: (request: Omit<HmacRequest, "secret">) => Record<string, string>;
  /**
   * The body with the signature that the platform would put into it, or a wrong one. Unchanged where it can hold none.
   * @throws TypeError for what the platform could not have sent
   */
  readonly signBody?: (body: Uint8Array, now: Date, isWrong: boolean) => Uint8Array;
  /** Its platform lists events, so that `reconcile` can ask for those that never arrived. */
  readonly listsEvents?: true;
  /** How events are found that never arrived; left out where that was not asked for, or the platform lists none. */
  readonly reconcile?: Reconciliation;
  /** A sample of a callback in the platform's shape, unsigned. @throws TypeError where none can be made */
  readonly sample: (request: SampleRequest) => SampleCallback;
}
