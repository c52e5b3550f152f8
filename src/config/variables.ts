import { z } from "zod";
import { cidrs, flag, httpUrl, key32, list, orOff, rateLimit, wholeNumber } from "./value-schemas.ts";
import { variable } from "./variable.ts";

export const BUILT_IN_TYPES = ["user_authorized", "payment_notify", "webhook_message"] as const;

const text = z.string();
const port = wholeNumber(0, 65_535);
const PORT_WORDS = "a whole number from 0 to 65535 (0: any free port)";
const RATE_WORDS = "a count per second, minute, hour or day, such as 10/minute, or off";
const CIDR_WORDS = "addresses or CIDR networks, separated by commas";
const SECRET_WORDS = "at least 16 bytes (32 in production) without white space around it";
const segments = text.regex(/^[A-Za-z0-9._~-]+(\/[A-Za-z0-9._~-]+)*$/);
const builtIn = z.union([
  z.literal("none").transform((): string[] => []),
  list().refine((types) => types.every((type) => (BUILT_IN_TYPES as readonly string[]).includes(type))),
]);

/** Every variable the service reads. The README's table says the same, and a test holds it to that. */
export const VARIABLES = {
  APP_ENV: variable({
    expects: "development, test or production",
    default: "development",
    meaning: "The environment; environments share neither addresses nor secrets nor databases",
    schema: z.enum(["development", "test", "production"]),
  }),
  CALLBACK_BASE_URL: variable({
    expects: "an http(s) address without query or fragment; in production a public https one",
    default: "outside production, the listener's own",
    meaning: "The address registered with the platform, up to but not including /api",
    schema: httpUrl,
  }),
  SIGNING_SECRET: variable({
    expects: SECRET_WORDS,
    default: "outside production, generated",
    secret: true,
    meaning: "The secret shared with the platform",
    schema: text,
  }),
  SIGNING_SECRET_PREVIOUS: variable({
    expects: SECRET_WORDS,
    default: "",
    secret: true,
    meaning: "The secret before it: both verify while it is rotated",
    schema: text,
  }),
  SIGNATURE_TOLERANCE_SECONDS: variable({
    expects: "whole seconds, or off",
    default: "off",
    meaning: "How far X-Timestamp may lie from now; it is not signed, so this alone stops no replay",
    schema: orOff(wholeNumber(1, 86_400)),
  }),
  AUTH_METHOD: variable({
    expects: "hmac (token and jwt are not available in this version)",
    default: "hmac",
    meaning: "How callbacks are authenticated",
    schema: z.literal("hmac"),
  }),
  DATABASE_URL: variable({
    expects: "sqlite:<file> or postgres://user:password@host:port/database",
    default: "sqlite:./data/oncehook.db",
    secret: true,
    meaning: "The store",
    schema: text.regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)$/),
  }),
  POOL_SIZE: variable({
    expects: "a whole number from 2 to 1000",
    default: "10",
    meaning: "PostgreSQL connections of this process",
    schema: wholeNumber(2, 1_000),
  }),
  HOST: variable({
    expects: "an address to listen on",
    default: "127.0.0.1; with TLS or a trusted proxy 0.0.0.0",
    meaning: "Where the public listener listens",
    schema: text,
  }),
  PORT: variable({ expects: PORT_WORDS, default: "8080", meaning: "Its port", schema: port }),
  ADMIN_HOST: variable({
    expects: "an address to listen on",
    default: "127.0.0.1",
    meaning: "Where the admin listener listens",
    schema: text,
  }),
  ADMIN_PORT: variable({ expects: PORT_WORDS, default: "8081", meaning: "Its port", schema: port }),
  ADMIN_TOKEN: variable({
    expects: "at least 16 printable characters without spaces",
    default: "outside production, generated",
    secret: true,
    meaning: "The bearer token of the admin API",
    schema: text.regex(/^[\x21-\x7e]{16,}$/),
  }),
  TLS_CERT_FILE: variable({
    expects: "a PEM file with the certificate chain",
    default: "",
    meaning: "With TLS_KEY_FILE: HTTPS by the listener itself; reloaded when the files change",
    schema: text,
  }),
  TLS_KEY_FILE: variable({
    expects: "a PEM file with the private key",
    default: "",
    meaning: "The certificate's key",
    schema: text,
  }),
  TRUST_PROXY: variable({
    expects: CIDR_WORDS,
    default: "",
    meaning: "Proxies whose X-Forwarded-For and X-Forwarded-Proto are believed",
    schema: cidrs,
  }),
  IP_ALLOW_LIST: variable({
    expects: CIDR_WORDS,
    default: "every address",
    meaning: "Who may call; others get 403",
    schema: cidrs,
  }),
  RATE_LIMIT_DEFAULT: variable({
    expects: RATE_WORDS,
    default: "100/hour",
    meaning: "For each remote address, all routes of the public listener",
    schema: orOff(rateLimit),
  }),
  RATE_LIMIT_CALLBACK: variable({
    expects: RATE_WORDS,
    default: "10/minute",
    meaning: "For each remote address, the callback routes, on top of it",
    schema: orOff(rateLimit),
  }),
  RATE_LIMIT_STORE: variable({
    expects: "memory or database",
    default: "memory",
    meaning: "database: all processes share one count",
    schema: z.enum(["memory", "database"]),
  }),
  RETRY_MAX: variable({
    expects: "a whole number from 0 to 100",
    default: "3",
    meaning: "Asynchronous retries of a failed event",
    schema: wholeNumber(0, 100),
  }),
  RETRY_DELAY_SECONDS: variable({
    expects: "seconds from 0.05 to 86400",
    default: "60",
    meaning: "Time between them",
    schema: text
      .regex(/^\d{1,5}(\.\d{1,3})?$/)
      .transform(Number)
      .refine((seconds) => seconds >= 0.05 && seconds <= 86_400),
  }),
  EVENT_TYPE_FROM: variable({
    expects: "header, body or either",
    default: "either",
    meaning: "Where the event type stands; either: the header, or the body without one",
    schema: z.enum(["header", "body", "either"]),
  }),
  REJECT_TYPE_MISMATCH: variable({
    expects: "true or false",
    default: "false",
    meaning: "Answer 400 when X-Event-Type and event_type differ",
    schema: flag,
  }),
  HANDLERS: variable({
    expects: `some of ${BUILT_IN_TYPES.join(",")}, or none`,
    default: "all three",
    meaning: "The built-in handlers that are on",
    schema: builtIn,
  }),
  HANDLER_TIMEOUT_MS: variable({
    expects: "a whole number from 50 to 600000, below REQUEST_TIMEOUT_MS",
    default: "10000",
    meaning: "Past it a handler is rolled back and answered 500",
    schema: wholeNumber(50, 600_000),
  }),
  REQUEST_TIMEOUT_MS: variable({
    expects: "a whole number from 100 to 600000",
    default: "30000",
    meaning: "How long a request may take to arrive, and to wait for the database",
    schema: wholeNumber(100, 600_000),
  }),
  MAX_BODY_BYTES: variable({
    expects: "a whole number from 1024 to 67108864",
    default: "1048576",
    meaning: "Longer bodies get 413",
    schema: wholeNumber(1_024, 67_108_864),
  }),
  ENCRYPTION_KEY: variable({
    expects: "32 bytes as base64 or 64 hexadecimal digits",
    default: "outside production, generated",
    secret: true,
    meaning: "Encrypts tokens and stored bodies",
    schema: key32,
  }),
  OAUTH_TOKEN_URL: variable({
    expects: "an http(s) address; in production https",
    default: "outside production, the sandbox platform",
    meaning: "Where user_authorized exchanges its code",
    schema: httpUrl,
  }),
  OAUTH_CLIENT_ID: variable({
    expects: "the client id",
    default: "",
    meaning: "For the exchange",
    schema: text,
  }),
  OAUTH_CLIENT_SECRET: variable({
    expects: "the client secret",
    default: "",
    secret: true,
    meaning: "For the exchange",
    schema: text,
  }),
  OAUTH_REDIRECT_URI: variable({
    expects: "the registered redirect address",
    default: "",
    meaning: "Sent with the exchange where the platform wants it",
    schema: httpUrl,
  }),
  OAUTH_SCOPE_PATH: variable({
    expects: "one or more path segments",
    default: "platform",
    meaning: "The scope in /api/<scope>/oauth-callback",
    schema: segments.refine((path) => !path.split("/").some((part) => part === "." || part === "..")),
  }),
  MASK_HEADERS: variable({
    expects: "header names, separated by commas",
    default: "",
    meaning: "Masked in logs, on top of the built-in list",
    schema: list(),
  }),
  MASK_KEYS: variable({
    expects: "body keys, separated by commas",
    default: "",
    meaning: "Masked in logs, on top of the built-in list",
    schema: list(),
  }),
  LOG_LEVEL: variable({
    expects: "fatal, error, warn, info, debug, trace or silent",
    default: "info",
    meaning: "Of the log on standard output",
    schema: z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]),
  }),
  LOG_RETENTION_DAYS: variable({
    expects: "a whole number from 1 to 36500",
    default: "30",
    meaning: "How long the callback log is kept",
    schema: wholeNumber(1, 36_500),
  }),
  RECORD_RETENTION_DAYS: variable({
    expects: "a whole number from 1 to 36500",
    default: "for ever",
    meaning: "How long records are kept; older events are then refused, as they could be duplicates",
    schema: wholeNumber(1, 36_500),
  }),
} as const;

/** Variables that later versions will read; setting one now must not look as if it worked. */
export const NOT_YET = [
  "CALLBACK_TOKEN",
  "JWT_SECRET",
  "JWT_PUBLIC_KEY_FILE",
  "JWT_JWKS_URL",
  "JWT_ISSUER",
  "JWT_AUDIENCE",
  "JWT_ALGORITHM",
  "OAUTH_ISSUER",
  "NOTIFY_WEBHOOK_URL",
  "NOTIFY_WEBHOOK_SECRET",
  "NOTIFY_EMAIL_TO",
  "SMTP_URL",
] as const;
