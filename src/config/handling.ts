import { fixedRetries } from "../domain/index.ts";
import type { Reading } from "./read-variables.ts";
import { flag, keepTime, list, matching, oneOf, someOf, type VariableTable, wholeNumber } from "./variable.ts";

export const BUILT_IN_TYPES = ["user_authorized", "payment_notify", "webhook_message"] as const;

export const HANDLING_VARIABLES = {
  HANDLERS: {
    schema: someOf(BUILT_IN_TYPES, "none"),
    defaultText: "all three; none where oncehook.config.ts has handlers of its own, or the built-in protocol is off",
  },
  HANDLER_TIMEOUT_MS: { schema: wholeNumber(50, 600_000, ", below REQUEST_TIMEOUT_MS"), default: "10000" },
  EVENT_TYPE_FROM: { schema: oneOf("header", "body", "either"), default: "either" },
  REJECT_TYPE_MISMATCH: { schema: flag, default: "false" },
  RETRY_MAX: { schema: wholeNumber(0, 100), default: "3" },
  RETRY_DELAY_SECONDS: {
    schema: matching(/^\d{1,5}(\.\d{1,3})?$/, "")
      .transform(Number)
      .refine((seconds) => seconds >= 0.05 && seconds <= 86_400)
      .describe("seconds from 0.05 to 86400"),
    default: "60",
  },
} satisfies VariableTable;

export const LOG_VARIABLES = {
  LOG_LEVEL: { schema: oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"), default: "info" },
  MASK_HEADERS: { schema: list("header names, separated by commas"), default: "" },
  MASK_KEYS: { schema: list("body keys, separated by commas"), default: "" },
  LOG_RETENTION_DAYS: { schema: wholeNumber(1, 36_500), default: "30" },
  REFUSED_LOG_BYTES: { schema: wholeNumber(1_048_576, 1_099_511_627_776), default: "67108864" },
  KEEP_ORIGINALS: { schema: keepTime, default: "30d" },
  RECORD_STATEMENTS: { schema: flag, default: "false" },
  RECORD_RETENTION_DAYS: { schema: wholeNumber(1, 36_500), defaultText: "for ever" },
} satisfies VariableTable;

type HandlingReading = Reading<typeof HANDLING_VARIABLES & typeof LOG_VARIABLES>;

/**
 * @param hasDefaults false switches off the built-in handlers that HANDLERS does not name
 * @param requestTimeoutMs a handler must end before it
 * @param credentialHeaders are masked whatever their names
 */
export function handlingOf(
  { values, problems }: HandlingReading,
  hasDefaults: boolean,
  requestTimeoutMs: number,
  credentialHeaders: readonly string[],
) {
  const { HANDLER_TIMEOUT_MS: handlerTimeoutMs } = values;
  if (handlerTimeoutMs >= requestTimeoutMs) {
    const message = `got ${handlerTimeoutMs}, expected less than REQUEST_TIMEOUT_MS (${requestTimeoutMs})`;
    problems.add(["HANDLER_TIMEOUT_MS"], message, ["REQUEST_TIMEOUT_MS"]);
  }
  const usual: readonly string[] = hasDefaults ? BUILT_IN_TYPES : [];
  return {
    builtInHandlers: [...(values.HANDLERS ?? usual)],
    handlerTimeoutMs,
    recordStatements: values.RECORD_STATEMENTS,
    eventTypeFrom: values.EVENT_TYPE_FROM,
    rejectTypeMismatch: values.REJECT_TYPE_MISMATCH,
    retry: fixedRetries(values.RETRY_MAX, values.RETRY_DELAY_SECONDS),
    logLevel: values.LOG_LEVEL,
    mask: { headers: [...values.MASK_HEADERS, ...credentialHeaders], keys: values.MASK_KEYS },
    retention: {
      logDays: values.LOG_RETENTION_DAYS,
      recordDays: values.RECORD_RETENTION_DAYS ?? null,
      refusedBytes: values.REFUSED_LOG_BYTES,
      originalsMs: values.KEEP_ORIGINALS,
    },
  };
}
