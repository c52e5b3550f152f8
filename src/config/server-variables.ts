import { z } from "zod";
import { cidrs, flag, httpUrl, onOff, variable, wholeNumber } from "./variable.ts";

const text = z.string();
const port = wholeNumber(0, 65_535);
const PORT_WORDS = "a whole number from 0 to 65535 (0: any free port)";
const CIDR_WORDS = "addresses or CIDR networks, separated by commas";

/** Listeners, TLS, database and allowed addresses. */
export const SERVER_VARIABLES = {
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
  DATABASE_URL: variable({
    expects: "sqlite:<file> or postgres://user:password@host:port/database",
    default: "sqlite:./data/oncehook.db",
    secret: true,
    meaning: "The store",
    schema: text.regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)$/),
  }),
  DATABASE_TLS: variable({
    expects: "verify-full or off",
    default: "verify-full",
    meaning:
      "In production, a PostgreSQL over a network needs `sslmode=verify-full` in DATABASE_URL; off: it need not, on a network of its own",
    schema: z.enum(["verify-full", "off"]),
  }),
  DATABASE_SCHEMA: variable({
    expects: "the name of a schema, of at most 63 bytes, not beginning with pg_",
    default: "",
    meaning:
      "PostgreSQL: holds the tables of Oncehook and of handlers, apart from others; made where it is missing",
    schema: text.refine(
      (name) => Buffer.byteLength(name) <= 63 && !/^(?:pg_|information_schema$)|\0/i.test(name),
    ),
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
  ADMIN_ALLOW_PLAIN_HTTP: variable({
    expects: "true or false",
    default: "false",
    meaning:
      "true: in production ADMIN_HOST may be other than loopback, in a network that only your proxy and probes can reach",
    schema: flag,
  }),
  ADMIN_PORT: variable({ expects: PORT_WORDS, default: "8081", meaning: "Its port", schema: port }),
  ADMIN_TOKEN: variable({
    expects: "at least 16 printable characters without spaces",
    default: "outside production, generated",
    secret: true,
    meaning: "The bearer token of the admin API",
    schema: text.regex(/^[\x21-\x7e]{16,}$/),
  }),
  CAPTURE: variable({
    expects: "on or off; in production off",
    default: "off",
    meaning: "on: callbacks are kept unchanged for a day, for `oncehook listen` with ADMIN_TOKEN",
    schema: onOff,
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
    meaning: "Allowed source addresses; others get 403",
    schema: cidrs,
  }),
} as const;
