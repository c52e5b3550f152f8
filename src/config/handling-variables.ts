import { z } from "zod";
import { flag, list, orOff, rateLimit, variable, wholeNumber } from "./variable.ts";

const text = z.string();
const RATE_WORDS = "a count per second, minute, hour or day, such as 10/minute, or off";

/** 0 is ambiguous: it could mean no requests or no limit. */
const rateHint = (raw: string) =>
  /^0+(\/|$)/.test(raw)
    ? "a count of at least 1: 0 would refuse every request, and off switches the limit off"
    : undefined;

export const BUILT_IN_TYPES = ["user_authorized", "payment_notify", "webhook_message"] as const;

const builtIn = z.union([
  z.literal("none").transform((): string[] => []),
  list().refine((types) => types.every((type) => (BUILT_IN_TYPES as readonly string[]).includes(type))),
]);

/** What happens to a callback once it is let in, and what is kept of it. */
export const HANDLING_VARIABLES = {
  RATE_LIMIT_DEFAULT: variable({
    expects: RATE_WORDS,
    default: "100/hour",
    meaning: "For each remote address, all routes of the public listener",
    schema: orOff(rateLimit),
    hint: rateHint,
  }),
  RATE_LIMIT_CALLBACK: variable({
    expects: RATE_WORDS,
    default: "10/minute",
    meaning: "For each remote address, the callback routes, on top of it",
    schema: orOff(rateLimit),
    hint: rateHint,
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
    default: "all three; none where oncehook.config.ts has handlers of its own",
    meaning: "The built-in handlers that are on; empty means the default",
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
  MAX_WAITING_CALLBACKS: variable({
    expects: "a whole number from 1 to 100000",
    default: "1000",
    meaning: "Callbacks at work or waiting for the database at a time; the next ones get 503",
    schema: wholeNumber(1, 100_000),
  }),
  MAX_BODY_BYTES: variable({
    expects: "a whole number from 1024 to 67108864",
    default: "1048576",
    meaning: "Longer bodies get 413",
    schema: wholeNumber(1_024, 67_108_864),
  }),
  MAX_UNVERIFIED_BYTES: variable({
    expects: "a whole number from 1024 to 4294967296, at least MAX_BODY_BYTES",
    default: "67108864",
    meaning: "Bytes of all bodies that are not verified yet; past it the oldest unfinished one gets 503",
    schema: wholeNumber(1_024, 4_294_967_296),
  }),
  MAX_CONNECTIONS: variable({
    expects: "a whole number from 8 to 1000000",
    default: "2048",
    meaning: "Connections to the public listener; past it the one that was idle longest is closed",
    schema: wholeNumber(8, 1_000_000),
  }),
  MAX_CONNECTIONS_PER_ADDRESS: variable({
    expects: "a whole number from 1 to 1000000",
    default: "1024",
    meaning: "The same for one address (IPv6: for a /64); proxies of TRUST_PROXY are exempt",
    schema: wholeNumber(1, 1_000_000),
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
  REFUSED_LOG_BYTES: variable({
    expects: "a whole number from 1048576 to 1099511627776",
    default: "67108864",
    meaning: "What refused requests may take of the callback log in all; past it the oldest of them go",
    schema: wholeNumber(1_048_576, 1_099_511_627_776),
  }),
  RECORD_RETENTION_DAYS: variable({
    expects: "a whole number from 1 to 36500",
    default: "for ever",
    meaning: "How long records are kept; older events are then refused, as they could be duplicates",
    schema: wholeNumber(1, 36_500),
  }),
} as const;
