import type { TracingOptions } from "../observability/tracing/index.ts";
import type { AlertKind } from "../store/index.ts";
import type { RateLimit } from "./variable.ts";

export type AppEnvironment = "development" | "test" | "production";
export type AuthMethod = "hmac" | "token" | "jwt";

export interface JwtConfig {
  readonly algorithm: "HS256" | "RS256" | "PS256" | "ES256" | "EdDSA";
  readonly keys:
    | { readonly from: "secrets"; readonly secrets: readonly string[] }
    | { readonly from: "pem"; readonly file: string }
    | { readonly from: "jwks"; readonly url: string };
  readonly issuer: string;
  readonly audience: string;
  readonly header: string;
  readonly clockToleranceSeconds: number;
  readonly bodyClaim: string | null;
}

export interface OAuthConfig {
  /** With it the endpoints are discovered; without it they are configured here. */
  readonly issuer: string | null;
  readonly authorizationUrl: string | null;
  readonly tokenUrl: string | null;
  readonly revocationUrl: string | null;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | null;
  /** How to find a token's user, where the token response does not name one. */
  readonly userInfo: { readonly url?: string; readonly idField?: string };
}

/** The whole configuration, validated and frozen. */
export interface Config {
  readonly environment: AppEnvironment;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** False where it is the listener's own address, which changes with the port. */
  readonly isBaseUrlGiven: boolean;
  /** The path of `baseUrl`: empty, or such as `/hooks`. */
  readonly basePath: string;
  /** Whether callbacks are kept unchanged, for `oncehook listen`; never in production. */
  readonly captureEnabled: boolean;
  readonly listen: {
    readonly host: string;
    readonly port: number;
    readonly tls?: { readonly certFile: string; readonly keyFile: string };
    readonly trustProxy: readonly string[];
  };
  readonly admin: {
    readonly host: string;
    readonly port: number;
    readonly token: string;
    readonly viewerToken: string | null;
    /** The origin that operators use; null where it is the listener's own. */
    readonly baseUrl: string | null;
    readonly sessionHours: number;
    /** Null: no OpenID Connect. */
    readonly oidc: {
      readonly issuer: string;
      readonly clientId: string;
      readonly clientSecret: string;
      readonly scope: string;
      /** The claim whose values the lists name. */
      readonly claim: string;
      readonly operators: readonly string[];
      readonly viewers: readonly string[];
    } | null;
  };
  readonly database:
    | { readonly kind: "sqlite"; readonly path: string }
    | {
        readonly kind: "postgres";
        readonly url: string;
        readonly poolSize: number;
        /** Holds the tables; null: the server's own search path decides. */
        readonly schema: string | null;
        /** A remote host whose certificate is not verified; null where it is verified, or local. */
        readonly unverifiedHost: string | null;
      };
  readonly authentication: {
    /** One of these combinations must succeed, with all of its methods. */
    readonly methods: readonly (readonly AuthMethod[])[];
    readonly signing: { readonly secrets: readonly string[]; readonly toleranceSeconds: number | null };
    /** Holds secrets that explain why a signature did not verify; they are never accepted. */
    readonly diagnoseSecretsFile: string | null;
    readonly token: { readonly tokens: readonly string[]; readonly header: string };
    readonly jwt: JwtConfig | null;
  };
  readonly limits: {
    readonly default: RateLimit | null;
    readonly callback: RateLimit | null;
    readonly store: "memory" | "database";
  };
  readonly retry: { readonly max: number; readonly delaySeconds: number };
  readonly eventTypeFrom: "header" | "body" | "either";
  readonly rejectTypeMismatch: boolean;
  readonly maxBodyBytes: number;
  readonly maxUnverifiedBytes: number;
  readonly connections: { readonly max: number; readonly maxPerAddress: number };
  readonly maxWaitingCallbacks: number;
  readonly requestTimeoutMs: number;
  readonly handlerTimeoutMs: number;
  readonly encryptionKey: Uint8Array;
  /** Keys before it; what they encrypted can still be decrypted. */
  readonly previousEncryptionKeys: readonly Uint8Array[];
  /** Null: the sandbox platform. */
  readonly oauth: OAuthConfig | null;
  readonly redirect: {
    /** The `<scope>` in `/api/<scope>/oauth-callback`. */
    readonly scopePath: string;
    readonly uri: string;
    /** Whether the exchange also sends it for flows that were not started here. */
    readonly isUriGiven: boolean;
    readonly responseMode: "query" | "form_post";
    readonly successUrl: string | null;
  };
  readonly notifications: {
    readonly webhook: { readonly url: string; readonly secret: string } | null;
    readonly email: { readonly url: string; readonly from: string; readonly to: readonly string[] } | null;
    /** Networks that are allowed although they are not public. */
    readonly allowAddresses: readonly string[];
    readonly caFile: string | null;
    readonly policy: { readonly attempts: number; readonly firstDelaySeconds: number };
  };
  readonly alerts: {
    readonly kinds: readonly AlertKind[];
    /** How many callbacks of a type in seven days the alert on its silence needs. */
    readonly silenceFloor: number;
  };
  readonly builtInHandlers: readonly string[];
  readonly ipAllowList: readonly string[] | null;
  readonly mask: { readonly headers: readonly string[]; readonly keys: readonly string[] };
  readonly logLevel: string;
  /** Null: off. */
  readonly tracing: TracingOptions | null;
  readonly retention: {
    readonly logDays: number;
    readonly recordDays: number | null;
    /** Bytes of all log entries of refused requests. */
    readonly refusedBytes: number;
  };
  /** The text of every secret, so that logs can mask it anywhere. */
  readonly secretValues: readonly string[];
  /** What production would refuse, or keeps for a rotation: for the log at start, and for `doctor`. */
  readonly warnings: readonly string[];
}
